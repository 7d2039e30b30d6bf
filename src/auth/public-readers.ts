/** Finds who reads a public dashboard: a reader of one project, without an API key, for as long as the project is public. */
import { readBriefly } from '../clickhouse/brief-read.js'
import type { Connection } from '../clickhouse/connection.js'
import type { Store } from '../clickhouse/store.js'
import { ApiError } from '../contract/errors.js'
import { createLookups, FRESH_MS } from '../lib/lookups.js'
import type { StoredProject } from '../projects/project.js'
import { listPublicProjects } from '../projects/store.js'
import type { Authenticated } from './authenticate.js'

interface PublicReader extends Authenticated {
  /** For how many milliseconds the project is taken to be public without asking the store again. */
  readonly leftMs: number
}

export interface PublicReaders {
  /**
   * Finds the reader of a public project by its id or its public token; undefined if no public project has it.
   *
   * @throws ApiError SERVICE_UNAVAILABLE when the store does not answer
   */
  readonly find: (name: string) => Promise<PublicReader | undefined>
  /** Returns what was last known about a name, however long ago: good enough to refuse a request, not to serve it. */
  readonly recall: (name: string) => Authenticated | undefined
}

/** The public projects by their names, and until when they are taken to be public. */
interface Listed {
  readonly readers: ReadonlyMap<string, Authenticated>
  readonly until: number
}

/** All public projects are one response. */
const LIST = 'public projects'

/**
 * Creates the readers of a service. All public projects are looked up at once, as `Lookups` does, so that made-up names cost the
 * store nothing. The list is never used for longer: turning a dashboard off ends it also while the store is away.
 *
 * @param clock returns milliseconds
 */
export function createPublicReaders(
  { reader }: Pick<Store, 'reader'>,
  now: () => Date,
  clock: () => number = () => performance.now(),
): PublicReaders {
  const lists = createLookups<Listed>({ now: clock, maxFound: 1, maxMissing: 0 })
  const read = async (begunAt: number): Promise<Listed> => ({
    readers: nameReaders(await readProjects(reader), now()),
    until: begunAt + FRESH_MS,
  })
  return {
    find: async (name) => {
      const list = await lists.find(LIST, read)
      const found = list?.readers.get(name)
      return list && found && { ...found, leftMs: list.until - clock() }
    },
    recall: (name) => lists.recall(LIST)?.readers.get(name),
  }
}

/** The ids of readers begin with this. Those of API keys have no colon. */
const PREFIX = 'public:'

/** Whether the id of a principal is that of the readers of a public project. */
export const isPublicReader = (keyId: string): boolean => keyId.startsWith(PREFIX)

/** Creates the reader of a project. All viewers are one: they share its turns, its responses and its limit. */
const createReader = (project: StoredProject): Authenticated => ({
  principal: { keyId: PREFIX + project.id, projectId: project.id },
  project,
  scopes: ['read'],
})

/** Names the readers of projects: by the public token, by the former one until it ends, and by the id, which comes first. */
function nameReaders(
  projects: readonly StoredProject[],
  now: Date,
): ReadonlyMap<string, Authenticated> {
  const readers = projects.map(createReader)
  const list = (names: (project: StoredProject) => readonly string[]) =>
    readers.flatMap((reader) => names(reader.project).map((name) => [name, reader] as const))
  return new Map([
    ...list(({ formerToken: former }) =>
      former !== null && former.until > now ? [former.token] : [],
    ),
    ...list(({ token }) => [token]),
    ...list(({ id }) => [id]),
  ])
}

const readProjects = (reader: Connection): Promise<readonly StoredProject[]> =>
  readBriefly((options) => listPublicProjects(reader, options), createLookupError)

const createLookupError = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'Public dashboards cannot be looked up right now. Try again in a moment.',
    { cause },
  )
