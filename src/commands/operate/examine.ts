/** Makes the checks of `tallyhouse doctor`. They look at the configuration, at each store, and at all shards of a cluster together. */
import { listPlaces, type ShardPlace } from '../../bootstrap/shard-places.js'
import type { Config } from '../../config/config.js'
import { UserError } from '../../lib/errors.js'
import type { CommandContext } from '../shared/context.js'
import { CLUSTER_CHECKS } from './cluster-checks.js'
import {
  describeFailure,
  examineOpened,
  openPatient,
  type Examined,
  type OpenedPatient,
} from './examine-store.js'
import { fail, type Finding } from './judgments.js'
import { LOCAL_CHECKS, readConfiguration } from './local-checks.js'
import type { Patient } from './store-checks.js'

/** Makes all checks that can be made: those of the store only if it answers. Changes nothing. */
export async function examine({ config, now }: CommandContext): Promise<readonly Examined[]> {
  const read = readConfiguration(config)
  if ('verdict' in read) return [{ name: 'configuration', ...read }]
  const local = LOCAL_CHECKS.map(async ({ name, examine: check }) => ({
    name,
    ...(await check(read).catch(describeFailure)),
  }))
  return [...(await Promise.all(local)), ...(await examineStores(read, now))]
}

async function examineStores(config: Config, now: () => Date): Promise<readonly Examined[]> {
  const places = await listPlaces(config).catch((error: unknown) => {
    if (error instanceof UserError) return fail(error.message, 'correct EMBEDDED_SHARDS')
    throw error
  })
  if ('verdict' in places) return [{ name: 'store', ...places }]
  const opened: { readonly place: ShardPlace; readonly store: OpenedPatient | Finding }[] = []
  try {
    // The home first: the process that holds its data folder holds those of the others.
    for (const place of places) opened.push({ place, store: await openPatient(config, place, now) })
    const examined = await Promise.all(
      opened.map(async ({ place, store }) => ({
        name: place.name,
        patient: 'verdict' in store ? undefined : store.patient,
        rows:
          'verdict' in store
            ? [{ name: 'store', ...store }]
            : await examineOpened(store.patient, place === places[0]),
      })),
    )
    if (examined.length === 1) return examined.flatMap(({ rows }) => rows)
    const named = examined.flatMap(({ name, rows }) =>
      rows.map((row) => ({ ...row, name: `${name}: ${row.name}` })),
    )
    return [...named, ...(await examineCluster(examined))]
  } finally {
    for (const { store } of opened.toReversed()) if ('close' in store) await store.close()
  }
}

interface ExaminedStore {
  readonly name: string
  /** Undefined if the store cannot be opened. */
  readonly patient: Patient | undefined
  readonly rows: readonly Examined[]
}

/** Makes the checks of all shards together, of those that answer. */
async function examineCluster(examined: readonly ExaminedStore[]): Promise<readonly Examined[]> {
  const isUsable = ({ rows }: ExaminedStore, failing: readonly string[]): boolean =>
    !rows.some(({ name, verdict }) => verdict === 'fail' && failing.includes(name))
  const patients = new Map(
    examined.flatMap((one) =>
      one.patient !== undefined && isUsable(one, ['store']) ? [[one.name, one.patient]] : [],
    ),
  )
  const [home] = examined
  const hasTables = home !== undefined && isUsable(home, ['store', 'migrations'])
  const names = examined.map(({ name }) => name)
  const checks = CLUSTER_CHECKS.filter(({ needsHome }) => hasTables || !needsHome)
  return Promise.all(
    checks.map(async ({ name, examine: check }) => ({
      name,
      ...(await check(patients, names).catch(describeFailure)),
    })),
  )
}
