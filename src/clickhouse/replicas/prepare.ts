/** Prepares the servers of a store that has replicas, before its tables are created. */
import { UserError } from '../../lib/errors.js'
import { requireFitServer } from '../checks/server-checks.js'
import { getClickHouseReason, isUnreachable, StoreUnavailableError } from '../errors.js'
import { createKeeperRows } from '../lease/keeper-rows.js'
import { ensureDatabase } from '../ensure-database.js'
import { choose, readChoice } from './choice.js'
import type { Member, ReplicaSet } from '../endpoint.js'
import { withConnection } from './take-over.js'

/**
 * Creates the database and the table `leases` on each server that answers, and chooses the first active replica of a new store. Safe to
 * repeat, and for several processes at once.
 *
 * @returns warnings about faults with which the service still counts right
 * @throws UserError that says what is wrong with a server and what to do; StoreUnavailableError if none answers
 */
export async function prepareReplicas(set: ReplicaSet): Promise<readonly string[]> {
  const outcomes = await Promise.all(
    set.members.map(async (member) => {
      const warnings = await prepareMember(member).catch((error: unknown) => {
        if (isUnreachable(error)) return undefined
        throw error
      })
      return warnings === undefined ? [] : [{ member, warnings }]
    }),
  )
  const [first] = outcomes.flat().map(({ member }) => member)
  if (first === undefined) throw new StoreUnavailableError('no replica answers')
  await withConnection(first, async (admin) => {
    if ((await readChoice(admin)).number === 0) await choose(admin, 0)
  })
  return outcomes.flat().flatMap(({ warnings }) => warnings)
}

async function prepareMember(member: Member): Promise<readonly string[]> {
  const { name } = member.replica
  const warnings = await requireFitServer(member)
  await ensureDatabase(member)
  await withConnection(member, (admin) => createKeeperRows(admin, member.replica)).catch(
    (error: unknown) => {
      const reason = getClickHouseReason(error)
      if (reason === undefined) throw error
      throw new UserError(
        `replica ${name} cannot use Keeper (${reason}): set <zookeeper>, <keeper_map_path_prefix> and <interserver_http_host> there`,
      )
    },
  )
  return warnings.map((text) => `replica ${name}: ${text}`)
}
