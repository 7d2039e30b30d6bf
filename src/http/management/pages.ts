/** Pages of projects: those that a key may see, by their ids. */
import { cutPage } from '../../management/page.js'
import type { StoredProject } from '../../projects/project.js'
import { listProjectsAfter } from '../../projects/store.js'
import type { ManagementApi, ManagementRequest } from './management-api.js'

/** How many rows a page has by default. */
const PAGE = 100

type Query = ManagementRequest['query']

/** Returns the most rows that a request asks for. */
export const readLimit = (query: Query): number => Number(query['limit'] ?? PAGE)

/** Lists the organizations that a project must belong to: that of the key, and the one that a request asks for. */
export const listOrgs = (...orgs: readonly (string | null | undefined)[]): readonly string[] =>
  orgs.filter((org) => typeof org === 'string')

interface ProjectPage {
  readonly projects: readonly StoredProject[]
  /** Where the next page begins; null after the last one. */
  readonly nextCursor: string | null
}

/** Lists a page of the projects that a request asks for and its key may see. */
export async function listPage(
  { cluster }: ManagementApi,
  { key, query }: Pick<ManagementRequest, 'key' | 'query'>,
): Promise<ProjectPage> {
  const limit = readLimit(query)
  const found = await listProjectsAfter(cluster.home.store.writer, {
    after: query['cursor'] ?? '',
    limit: limit + 1,
    orgs: listOrgs(key.org, query['org']),
    name: query['name'],
  })
  const page = cutPage(found, limit, ({ id }) => id)
  return { projects: page.rows, nextCursor: page.nextCursor }
}
