/** Loads the demo's events up to now. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { locate, type Cluster } from '../cluster/cluster.js'
import { createProject } from '../cluster/directory.js'
import { placeProject } from '../cluster/place-project.js'
import {
  importIntoCluster,
  type ClusterImportOptions,
} from '../ingest/import/import-into-cluster.js'
import { findLastEventTime } from '../projects/event-times.js'
import type { StoredProject } from '../projects/project.js'
import { findProject } from '../projects/store.js'
import { UserError } from '../lib/errors.js'
import { addDays, startOfDay } from '../lib/time.js'
import { defineOfDemo } from './definitions.js'
import { generateEvents, type DemoPeriod } from './events.js'
import { DOMAIN, ORIGIN } from './pages.js'
import type { DemoEvent } from './visit.js'

/** 13 months, so that a month can be compared with the same month of the year before. */
export const DEMO_DAYS = 396

const PROJECT = { id: 'demo', name: 'Demo shop', domain: DOMAIN, hasPublicDashboard: true }

export interface TopUpOptions extends Pick<ClusterImportOptions, 'getLoader'> {
  readonly now: Date
  /** The number of shards of a new demo; 1 by default. */
  readonly width?: number
  /** Days of history of a new demo; an existing demo keeps its start. */
  readonly days?: number
  /** Stops early; the next call loads the rest. */
  readonly stop?: AbortSignal
  /** Called after each chunk with the number of events loaded and the time of the last one. */
  readonly onProgress?: (loaded: number, upTo: Date) => void
}

/**
 * Creates the project unless it exists, and imports the events since its last one, as a file is imported.
 *
 * @returns the project, and the number of events that were loaded
 * @throws UserError when a project with the same id is not the demo's
 */
export async function topUpDemo(
  cluster: Cluster,
  { getLoader, now, width = 1, days = DEMO_DAYS, stop, onProgress }: TopUpOptions,
): Promise<{ readonly project: StoredProject; readonly loaded: number }> {
  const project = await openProject(cluster, width, addDays(startOfDay(now), -days), now)
  await defineOfDemo(cluster, project.id)
  const start = project.createdAt
  const from = (await findTopUpStart(cluster, project, now)) ?? start
  let upTo = from
  const source = generateLines({ start, from, until: now }, stop, (day) => {
    upTo = day
  })
  const { events } = await importIntoCluster(cluster, source, {
    projectId: project.id,
    getLoader,
    now,
    onProgress: (soFar) => onProgress?.(soFar.events, upTo),
    onRejected: failOnRejected,
  })
  return { project, loaded: events }
}

async function openProject(
  cluster: Cluster,
  width: number,
  start: Date,
  now: Date,
): Promise<StoredProject> {
  const found = await findProject(cluster.home.store.reader, PROJECT.id)
  if (found === undefined) {
    return createProject(cluster, PROJECT, start, await placeProject(cluster, { width }))
  }
  if (found.domain === DOMAIN && found.createdAt <= now) return found
  throw new UserError(`project ${PROJECT.id} exists and is not the demo's: use another DATA_DIR`)
}

/**
 * Finds the time of the last event on the shard that has the least; null when one has none. The others may have some of the
 * events behind it, which count once by their ids.
 */
async function findTopUpStart(
  cluster: Cluster,
  project: StoredProject,
  now: Date,
): Promise<Date | null> {
  const times = await Promise.all(
    // Visits of the page /demo have another origin and are not part of the generated history.
    locate(cluster, project).map(({ store }) =>
      findLastEventTime(store.reader, project.id, ORIGIN, now),
    ),
  )
  return times.reduce((a, b) => (a === null || b === null ? null : a < b ? a : b))
}

/** The events of the demo are all valid. @throws Error */
export function failOnRejected([first]: readonly { readonly reason: string }[]): never {
  throw new Error(`an event of the demo was rejected: ${first?.reason ?? ''}`)
}

/** Formats events as the lines of an import file. */
export const formatLines = (events: readonly DemoEvent[]): Buffer =>
  Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))

/** Generates the events of a period as lines of JSON, one buffer per day. */
async function* generateLines(
  period: DemoPeriod,
  stop: AbortSignal | undefined,
  onDay: (end: Date) => void,
): AsyncGenerator<Buffer> {
  for (const events of generateEvents(period)) {
    if (stop?.aborted === true) return
    const latest = events.at(-1)
    if (latest !== undefined) onDay(new Date(latest.timestamp))
    yield formatLines(events)
    // Generating is synchronous; signals are handled between two days.
    await yieldToEventLoop()
  }
}
