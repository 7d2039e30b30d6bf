/** The tasks that a process is suspended in. A task that is run again finishes what was interrupted. */
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { agreeOn } from '../store/clocks.js'
import { createContext, deleteProject, deleteUser, rebuildRollups } from '../store/loading.js'

/** The project that the deletions delete from. */
export const SHOP = 'shop'
/** Its user that is deleted. */
export const GONE = 'gone'
/** Its data since this day is kept. */
export const KEPT_FROM = '2026-02-01'
export const KEEP_DAYS = 19
/** The data of 19 days is kept only if events arrive until today. */
export const TODAY = '2026-02-20T10:00:00Z'
const NOW = new Date('2026-02-20T12:00:00Z')

/** Each task, with about the number of its statements when nothing disturbs it. */
export const TASKS = {
  'rebuild the rollups': {
    statements: 290,
    run: (store: Store): Promise<unknown> => rebuildRollups(store.writer, {}),
  },
  'delete a user': {
    statements: 90,
    run: (store: Store): Promise<unknown> => deleteUser(store, SHOP, GONE),
  },
  'delete a project': {
    statements: 80,
    run: (store: Store): Promise<unknown> => deleteProject(store, SHOP),
  },
  'delete what is kept no longer': {
    statements: 110,
    run: async (store: Store): Promise<unknown> => {
      const options = { store, context: createContext(), logger: createLogger('silent') }
      // The first call only records that sessions will be cut.
      await expireProjects(options, agreeOn(NOW))
      return expireProjects(options, agreeOn(NOW))
    },
  },
} as const

export type Task = keyof typeof TASKS

/** What a process does, as JSON in its first argument. */
export interface SuspendedTask {
  readonly endpoint: Endpoint
  readonly task: Task
  /** The number of the statement, from 1. */
  readonly at: number
  /** Milliseconds after it was sent; undefined just before. */
  readonly afterMs: number | undefined
}

/** What the process prints at its end. */
export interface TaskEnd {
  readonly statements: number
  readonly error: string | undefined
}

/** What it prints before it suspends itself. */
export const SUSPENDED = 'suspended\n'
