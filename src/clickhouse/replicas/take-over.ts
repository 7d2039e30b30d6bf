/** Makes another replica the active one: when the active one has fallen silent, or when an operator says so. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../lib/time.js'
import { connect, type Connection } from '../connection.js'
import { fenceConnection } from '../connection-wrappers.js'
import { underLease, withLease, type Lease } from '../lease/lease.js'
import { choose, readChoice, readTables, recordAlone, recordTables, SPREAD_MS } from './choice.js'
import type { Look, Member, ReplicaSet } from '../endpoint.js'
import { alignStandby, findLacking, hashShared, hashTables, listShared } from './standby.js'

/** Why a replica cannot become the active one: half a sentence such as `replica b lacks rows of events`. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError'
}

/** Tables that follow from the others. A replica that lacks rows of them alone may take over. */
export interface DerivedTables {
  readonly names: readonly string[]
  /** Records that they are wrong. Once it resolves, nobody reads them until they are built anew. The caller holds the lease `loader`. */
  readonly abandon: (connection: Connection) => Promise<void>
}

/** Another process may hold the lease until it expires. */
const TAKEOVER_WAIT_MS = 12 * SECOND_MS

/**
 * Lets a replica take over from one that is silent. Waits until the holder of the lease `loader` is silent, too, creates the recorded tables
 * and views that the replica lacks, and checks that it has everything that was confirmed. Loaders then finish what was interrupted, as
 * after a crash. If only derived tables lack rows, as when a month of them was replaced at that moment, they are abandoned.
 *
 * @param last the choice that is replaced
 * @returns whether it is active now; false if another one was chosen meanwhile
 * @throws NotReadyError; LeaseTimeoutError when the holder of the lease is not silent; the client's error
 */
export function takeOver(member: Member, last: Look, derived: DerivedTables): Promise<boolean> {
  return withConnection(member, (standby) =>
    underLease(
      standby,
      'loader',
      async (fenced, lease) => {
        const wanted = await readTables(fenced)
        if (wanted === undefined) {
          throw new NotReadyError(`${describe(member)} lacks what migrations were creating`)
        }
        // What was about to be created there is created now.
        await alignStandby(wanted, fenced)
        const lacking = await requireComplete(fenced, member, derived.names)
        if (lacking.size > 0) await derived.abandon(fenced)
        return chooseUnder(lease, fenced, last.number)
      },
      { waitMs: TAKEOVER_WAIT_MS, requestsTurn: false },
    ),
  )
}

/**
 * Hands over to another replica between two loads.
 *
 * @throws NotReadyError; LeaseTimeoutError when another process works for longer than a minute; the client's error
 */
export async function handOver(set: ReplicaSet, member: Member): Promise<void> {
  const { member: active } = set.getActive()
  await withConnection(active, (from) =>
    withConnection(member, (standby) =>
      withLease(from, 'loader', async (lease) => {
        await alignStandby(await listShared(from), standby)
        await requireComplete(standby, member)
        const { number } = await readChoice(from)
        if (!(await chooseUnder(lease, standby, number))) {
          throw new NotReadyError('another replica was chosen at the same moment')
        }
      }),
    ),
  )
}

/**
 * Makes a replica the active one, and keeps the lease until every service can know: one that did not would load on the former active
 * replica, and go on in the middle on the next one.
 */
async function chooseUnder(lease: Lease, standby: Connection, number: number): Promise<boolean> {
  await lease.assertHeld()
  const isChosen = await choose(standby, number)
  if (isChosen) await sleep(SPREAD_MS)
  return isChosen
}

/** Makes standbys like the active replica, unless its tables are about to change. @param signal ends the work */
export async function keepAlike(
  active: Member,
  standbys: readonly Member[],
  signal: AbortSignal,
): Promise<void> {
  const tables = await withConnection(active, (admin) => readTables(fenceConnection(admin, signal)))
  if (tables === undefined) return
  await alignReplicas(active, standbys, signal)
}

/**
 * Makes all replicas that answer like the active one, and records what they must have.
 *
 * @param standbys those that answer
 * @param signal ends the work
 */
async function alignReplicas(
  active: Member,
  standbys: readonly Member[],
  signal?: AbortSignal,
): Promise<void> {
  const open = <Result>(member: Member, work: (admin: Connection) => Promise<Result>) =>
    withConnection(member, (admin) =>
      work(signal === undefined ? admin : fenceConnection(admin, signal)),
    )
  await open(active, async (from) => {
    const isAligned = async (): Promise<boolean> => {
      const hash = await hashTables(from)
      const recorded = await readTables(from)
      if (recorded === undefined || hashShared(recorded) !== hash) return false
      const found = await Promise.all(standbys.map((standby) => open(standby, hashTables)))
      return found.every((one) => one === hash)
    }
    if (await isAligned()) return
    await underLease(from, 'loader', async (fenced, lease) => {
      const wanted = await listShared(fenced)
      await lease.assertHeld()
      // First of all: a standby that this leaves half done finishes it before it takes over.
      await recordTables(fenced, wanted)
      for (const standby of standbys) {
        await open(standby, (to) => alignStandby(wanted, to))
      }
    })
  })
}

/**
 * Records that events are on two disks again, once the standbys have all that was stored without them.
 *
 * @param standbys those that answer
 * @param signal ends the work
 */
export async function endAlone(
  active: Member,
  standbys: readonly Member[],
  signal: AbortSignal,
): Promise<void> {
  for (const standby of standbys) {
    const lacking = await withConnection(standby, (admin) =>
      findLacking(fenceConnection(admin, signal)),
    )
    if (lacking.size > 0) return
  }
  await withConnection(active, (admin) => recordAlone(fenceConnection(admin, signal), false))
}

/** Makes all replicas that answer like the active one, after migrations or whenever tables may have changed. */
export async function alignAll(set: ReplicaSet): Promise<void> {
  const { member: active } = set.getActive()
  await alignReplicas(
    active,
    set.listAnswering().filter((member) => member !== active),
  )
}

/**
 * Checks that a replica has all rows.
 *
 * @param spared the tables that may lack some
 * @returns those of them that do
 * @throws NotReadyError
 */
async function requireComplete(
  standby: Connection,
  member: Member,
  spared: readonly string[] = [],
): Promise<ReadonlySet<string>> {
  const lacking = await findLacking(standby)
  const [first, ...more] = [...lacking].filter(([table]) => !spared.includes(table))
  if (first === undefined) return new Set(lacking.keys())
  const [table, reason] = first
  const others = more.length > 0 ? ` and of ${more.length} other tables` : ''
  throw new NotReadyError(`${describe(member)} lacks rows of ${table}${others}: ${reason}`)
}

const describe = ({ replica }: Member): string => `replica ${replica.name}`

/** Runs work with a connection of its own to a replica. */
export async function withConnection<Result>(
  member: Member,
  work: (admin: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = connect(member, 'admin')
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}
