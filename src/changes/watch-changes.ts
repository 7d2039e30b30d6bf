/** Watches the changes of projects' data, so that a service knows whether an earlier response is still the right one. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, uint64 } from '../clickhouse/sql.js'
import { SECOND_MS } from '../lib/time.js'
import { isSameMoment, toMoment, type Moment } from './moment.js'
import { ALL, readStates, type ProjectState, type State } from './states.js'
import { KNOWLEDGE_MS, LOOK_INTERVAL_MS, MEMORY_MS } from './timing.js'

/**
 * Names the state of a project's data. Two equal names are the same data: of two responses with the same name, the later one
 * would have been the same.
 */
export type DataVersion = string

/** Knows the versions of projects' data. */
export interface VersionWatch {
  /**
   * Returns the version of a project's data; undefined while it changes, or when the store does not say so in time.
   *
   * The version is that of the data at this moment: while the caller does not await anything, it may give responses that
   * were computed since an earlier call returned the same version.
   */
  readonly readVersion: (projectId: string) => Promise<DataVersion | undefined>
  /**
   * Returns the version that was seen last, however long ago, without waiting; undefined if none was seen, or the data was
   * changing. If the same version is read later, the data has been the same all the time.
   */
  readonly getLastVersion: (projectId: string) => DataVersion | undefined
  /**
   * Whether a version is that of a project's data at this moment, as far as is known without asking the store. Called
   * last of all: the process may have been suspended since it read the version.
   */
  readonly isCurrent: (projectId: string, version: DataVersion) => boolean
}

export interface ChangeWatch extends VersionWatch {
  /** Returns the moment that was seen last, however long ago; undefined if none was, or a change was being published. */
  readonly getLastMoment: (projectIds: readonly string[]) => Moment | undefined
  /** Whether a moment is still the current one, as far as is known without asking the store. */
  readonly isCurrentMoment: (projectIds: readonly string[], moment: Moment) => boolean
}

/** How long ago a project must have changed to count as quiet. A project whose events come in changes every few seconds. */
const QUIET_MS = 10 * SECOND_MS

/** A state, and when it was seen first, by the monotonic clock. */
type SeenState = State & { readonly seenAt: number }

/**
 * Creates a watch. It looks only when it is asked, for all projects at once and seldom: what it saw serves everybody for a
 * while.
 *
 * @param getTime the time of day. It only ends knowledge early: a monotonic clock stands still while the machine does
 * @param now a monotonic clock, in milliseconds
 * @param startLoad returns the function that says which share of the time since then this process was busy, 0 to 1
 */
export function watchChanges(
  reader: Connection,
  getTime: () => Date,
  now = () => performance.now(),
  startLoad = measureLoad,
): ChangeWatch {
  const states = createStates(reader, now)
  let lookedAt = { now: -Infinity, time: 0 }
  let looking: Promise<{ readonly wasBusy: boolean }> | undefined

  /** Returns whether this process was busy with other work most of the time. */
  const look = async (): Promise<{ readonly wasBusy: boolean }> => {
    const begun = { now: now(), time: getTime().getTime() }
    const readLoad = startLoad()
    try {
      // The numbers may be those of another store after a long time.
      await states.update(begun.now - lookedAt.now > MEMORY_MS)
      lookedAt = begun
    } catch {
      // Nothing is known until a look succeeds.
    } finally {
      looking = undefined
    }
    return { wasBusy: readLoad() > 0.5 }
  }
  const isKnown = (): boolean => {
    const passed = getTime().getTime() - lookedAt.time
    return now() - lookedAt.now < KNOWLEDGE_MS && passed >= 0 && passed < KNOWLEDGE_MS
  }
  const lookIfDue = (): void => {
    if (!isKnown() || now() - lookedAt.now >= LOOK_INTERVAL_MS) looking ??= look()
  }
  return {
    readVersion: async (projectId) => {
      lookIfDue()
      const looked = isKnown() ? undefined : await looking
      // Many requests at once kept the process from reading the response in time, and all of them wait for this by now.
      if (!isKnown() && looked?.wasBusy === true) await (looking ??= look())
      return isKnown() ? states.getVersion(projectId) : undefined
    },
    getLastVersion: (projectId) => {
      lookIfDue()
      return lookedAt.now === -Infinity ? undefined : states.getVersion(projectId)
    },
    getLastMoment: (projectIds) => {
      lookIfDue()
      return lookedAt.now === -Infinity ? undefined : states.getMoment(projectIds)
    },
    isCurrentMoment: (projectIds, moment) =>
      // A change that is announced may be published before the next look.
      isKnown() &&
      states.areEnded(projectIds) &&
      isSameMoment(moment, states.getMoment(projectIds)),
    isCurrent: (projectId, version) => isKnown() && states.getVersion(projectId) === version,
  }
}

/** Measures how busy the event loop is. */
function measureLoad(): () => number {
  const begun = performance.eventLoopUtilization()
  return () => performance.eventLoopUtilization(begun).utilization
}

interface States {
  /** Reads what is new, or all. @throws what the query rejects with; then the next update reads all */
  readonly update: (readsAll: boolean) => Promise<void>
  /** Returns the version of a project's data when it was last updated; undefined while it changed. */
  readonly getVersion: (projectId: string) => DataVersion | undefined
  /** Whether no change of any of these projects was open when they were last updated. */
  readonly areEnded: (projectIds: readonly string[]) => boolean
  /** Returns the moment when it was last updated; undefined while a change was being published. */
  readonly getMoment: (projectIds: readonly string[]) => Moment | undefined
}

/** Keeps the last row of each project. */
function createStates(reader: Connection, now: () => number): States {
  const states = new Map<string, SeenState>()
  /** The highest number that was seen; 0 to read every row. */
  let last = 0
  return {
    update: async (readsAll) => {
      const from = readsAll ? 0 : last
      // If a query fails, the store may be another one when it answers again.
      last = 0
      const newer = await readNewer(reader, from)
      // The newest row is always found again, unless the store is another one.
      const isNew = from === 0 || newer.length === 0
      const rows = from > 0 && isNew ? await readNewer(reader, 0) : newer
      const known = new Map(states)
      if (isNew) states.clear()
      let highest = isNew ? 0 : from
      for (const { project, number, ...state } of rows) {
        const before = known.get(project)
        const isSame = before?.version === state.version && before.isOpen === state.isOpen
        states.set(project, { ...state, seenAt: isSame ? before.seenAt : now() })
        highest = Math.max(highest, number)
      }
      last = highest
    },
    getVersion: (projectId) => {
      const [own, all] = [states.get(projectId), states.get(ALL)]
      if (own?.isOpen === true || all?.isOpen === true) return undefined
      return `${own?.version ?? ''} ${all?.version ?? ''}`
    },
    areEnded: (projectIds) => [ALL, ...projectIds].every((id) => states.get(id)?.isOpen !== true),
    getMoment: (projectIds) => {
      const known = [ALL, ...projectIds].flatMap((id) => states.get(id) ?? [])
      const moment = toMoment(known)
      const isQuiet = known.every(({ isOpen, seenAt }) => !isOpen && now() - seenAt > QUIET_MS)
      return moment && { ...moment, isQuiet }
    },
  }
}

/** Reads the last row of each project that has one from this number on. */
const readNewer = (reader: Connection, from: number): Promise<readonly ProjectState[]> =>
  readStates(reader, sql`change >= ${uint64(from)}`, AbortSignal.timeout(KNOWLEDGE_MS))
