/** Reads the versions of projects' data, as services that keep answers do. */
import { setTimeout as sleep } from 'node:timers/promises'
import { KNOWLEDGE_MS } from '../../../src/changes/timing.js'
import { watchChanges, type DataVersion } from '../../../src/changes/watch-changes.js'
import type { Store } from '../../../src/clickhouse/store.js'

/** Creates a function that looks each time, so writers need not wait until it has noticed a change. */
export function watchCloselyIn(
  store: Pick<Store, 'lookups'>,
): (projectId: string) => Promise<DataVersion | undefined> {
  let time = 0
  const watch = watchChanges(
    store.lookups,
    () => new Date(time),
    () => time,
  )
  return (projectId) => {
    time += KNOWLEDGE_MS
    return watch.readVersion(projectId)
  }
}

/** What a recorder has found. */
export interface Recorded {
  /** How many answers were given between two equal versions, and how many versions there were. */
  compared: number
  versions: number
  /** The answers that differ from an earlier one with the same version. */
  readonly different: unknown[]
}

export interface Recorder {
  readonly found: Recorded
  readonly stop: () => Promise<Recorded>
}

/** Leaves time to processes that change the store. */
const PAUSE_MS = 20

/**
 * Asks all the time, and compares: answers that were given between two reads of the same version have to be equal.
 *
 * @param ask returns an answer about a project, as text; rejects while the store is away
 */
export function recordVersions(
  store: Pick<Store, 'lookups'>,
  projectIds: readonly string[],
  ask: (projectId: string) => Promise<string>,
): Recorder {
  const read = watchCloselyIn(store)
  const answers = new Map<string, string>()
  const found: Recorded = { compared: 0, versions: 0, different: [] }
  let isOn = true
  const compare = async (projectId: string): Promise<void> => {
    const version = await read(projectId)
    if (version === undefined) return
    const answer = await ask(projectId)
    if ((await read(projectId)) !== version) return
    const name = JSON.stringify([projectId, version])
    const first = answers.get(name) ?? answer
    answers.set(name, first)
    found.compared++
    found.versions = answers.size
    if (answer !== first) found.different.push({ projectId, version, first, answer })
  }
  const record = async (): Promise<void> => {
    while (isOn) {
      for (const projectId of projectIds) await compare(projectId).catch(() => undefined)
      await sleep(PAUSE_MS)
    }
  }
  const ended = record()
  return {
    found,
    stop: async () => {
      isOn = false
      await ended
      return found
    },
  }
}
