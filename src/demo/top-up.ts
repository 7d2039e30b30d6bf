/** Brings the events of the demo's project up to the present. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Store } from '../clickhouse/store.js'
import { importEvents } from '../ingest/import/import-events.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { lastEventAt } from '../projects/last-event.js'
import type { StoredProject } from '../projects/project.js'
import { createProject, findProject } from '../projects/store.js'
import { UserError } from '../lib/errors.js'
import { demoDays, type DemoPeriod } from './events.js'
import { DOMAIN, ORIGIN } from './pages.js'
import { DAY_MS, dayOf } from './traffic.js'

/** Thirteen months, so that a year can be held against the one before. */
export const DEMO_DAYS = 396

const PROJECT = { id: 'demo', name: 'Demo shop', domain: DOMAIN }

export interface TopUpOptions {
  readonly loader: LoaderContext
  readonly now: Date
  /** How far back a new demo begins; one that is there keeps its beginning. */
  readonly days?: number
  /** Ends the work early; what is missing comes with the next time. */
  readonly stop?: AbortSignal
  /** Is told after each piece how many events are loaded, and up to which moment. */
  readonly onProgress?: (loaded: number, upTo: Date) => void
}

/**
 * Makes the project where it is missing, and loads what has happened in it since its last event: the
 * same way as a file is imported.
 *
 * @throws UserError when the project is somebody else's.
 */
export async function topUpDemo(
  store: Store,
  { loader, now, days = DEMO_DAYS, stop, onProgress }: TopUpOptions,
): Promise<{ readonly project: StoredProject; readonly loaded: number }> {
  const project = await openProject(store, new Date((dayOf(now) - days) * DAY_MS), now)
  const start = project.createdAt
  // Visits of the demo's own page, of another origin, are not its made-up history.
  const from = (await lastEventAt(store.reader, project.id, ORIGIN, now)) ?? start
  let upTo = from
  const source = lines({ start, from, until: now }, stop, (day) => {
    upTo = day
  })
  const { events } = await importEvents(store, source, {
    projectId: project.id,
    loader,
    now,
    onProgress: (soFar) => onProgress?.(soFar.events, upTo),
    onRejected: ([first]) => {
      throw new Error(`an event of the demo was rejected: ${first?.reason ?? ''}`)
    },
  })
  return { project, loaded: events }
}

async function openProject(store: Store, start: Date, now: Date): Promise<StoredProject> {
  const found = await findProject(store.reader, PROJECT.id)
  if (found === undefined) return createProject(store, PROJECT, start)
  if (found.domain === DOMAIN && found.createdAt <= now) return found
  throw new UserError(`the project ${PROJECT.id} is not the demo's: use another DATA_DIR`)
}

/** The events of a period as lines of JSON, a day at a time. */
async function* lines(
  period: DemoPeriod,
  stop: AbortSignal | undefined,
  onDay: (end: Date) => void,
): AsyncGenerator<Buffer> {
  for (const events of demoDays(period)) {
    if (stop?.aborted === true) return
    const latest = events.at(-1)
    if (latest !== undefined) onDay(new Date(latest.timestamp))
    yield Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    // Signals are heard between two days.
    await turn()
  }
}
