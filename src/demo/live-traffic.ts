/** The demo's visits while it runs: each is imported when it happens, so that somebody is always there. */
import { Readable } from 'node:stream'
import type { Cluster } from '../cluster/cluster.js'
import {
  importIntoCluster,
  type ClusterImportOptions,
} from '../ingest/import/import-into-cluster.js'
import { startRepeating } from '../lib/repeat.js'
import { addDays, addMs, SECOND_MS, startOfDay } from '../lib/time.js'
import type { StoredProject } from '../projects/project.js'
import { generateEvents } from './events.js'
import { failOnRejected, formatLines } from './top-up.js'
import type { DemoEvent } from './visit.js'

interface LiveOptions extends Pick<ClusterImportOptions, 'getLoader'> {
  readonly project: StoredProject
  /** The moment up to which the demo's events are loaded. */
  readonly since: Date
  readonly now: () => Date
  /** Called when events cannot be loaded; they are tried again with the next ones. */
  readonly onFailure: (error: unknown) => void
}

/** An import costs half a second of CPU time, however few events it has. */
const INTERVAL_MS = 30 * SECOND_MS

/** Imports the events that happen from now on. Returns a function that stops it. */
export function startLiveTraffic(
  cluster: Cluster,
  { project, since, now, getLoader, onFailure }: LiveOptions,
): () => Promise<void> {
  const history = createHistory(project.createdAt)
  let loadedUpTo = since
  const loadNext = async (): Promise<void> => {
    const until = now()
    const events = history.list(loadedUpTo, until)
    if (events.length > 0) {
      const options = { projectId: project.id, getLoader, now: until, onRejected: failOnRejected }
      await importIntoCluster(cluster, Readable.from([formatLines(events)]), options)
    }
    loadedUpTo = until
  }
  return startRepeating(() => loadNext().catch(onFailure), INTERVAL_MS)
}

interface History {
  /** Returns the events after one moment up to another. */
  list(after: Date, until: Date): readonly DemoEvent[]
}

/** Generates a day once, and returns its events bit by bit. @param start the day on which the history begins */
function createHistory(start: Date): History {
  let events: readonly DemoEvent[] = []
  let end = start
  return {
    list(after, until) {
      if (until >= end) {
        end = addDays(startOfDay(until), 1)
        events = [...generateEvents({ start, from: after, until: addMs(end, -1) })].flat()
      }
      const [from, to] = [after.toISOString(), until.toISOString()]
      return events.filter(({ timestamp }) => timestamp > from && timestamp <= to)
    },
  }
}
