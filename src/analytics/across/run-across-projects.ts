/** Answers a query about many projects: a row for each, which is that of the query about the project alone. */
import type { AcrossRequest, AcrossResponse, AcrossRow } from '../../contract/across-projects.js'
import { namePatterns } from '../check-rows.js'
import type { QueriedProject } from '../operation.js'
import { listPatternFields } from '../request/filter-limits.js'
import { formatPeriod } from '../request/period.js'
import {
  findNeighbours,
  readNeighbours,
  type AcrossDependencies,
  type QueryRows,
  type Neighbours,
  type ToQuery,
} from './read-projects.js'
import {
  createRowsQuery,
  createSeriesQuery,
  refuseProject,
  resolvePeriods,
  type Periods,
} from './resolve.js'
import { orderProjects, shapeProject, shapeSeries } from './rows.js'

/**
 * Answers a validated request about projects, with one statement for those on the same shards, and another one for their series. A
 * project whose query is refused has a row that says why.
 *
 * @param projects those of the request, each once
 * @throws ApiError VALIDATION_ERROR for a response that would be too large or for a pattern that only the store refuses,
 *   INTERNAL_ERROR for rows of another project or request, or what `openData`, `run` and `firstEventAt` throw
 */
export async function runAcrossProjects(
  request: AcrossRequest,
  projects: readonly QueriedProject[],
  dependencies: AcrossDependencies,
): Promise<AcrossResponse> {
  const now = dependencies.now()
  const neighbours = await findNeighbours(projects, dependencies)
  const first = request.date_range === 'all' ? await findFirstEvent(neighbours) : null
  const periods = resolvePeriods(request, projects, first, now)
  const refused = projects.flatMap((project) => refuseProject(project, periods, now) ?? [])

  const read: Read = (isMeant, toQuery) =>
    readNeighbours(chooseProjects(neighbours, isMeant), toQuery, dependencies).catch(
      (error: unknown) => {
        throw namePatterns(error, listPatternFields(request.filters))
      },
    )
  const isRefused = new Set(refused.map(({ project }) => project))
  const answers = await read(
    (id) => !isRefused.has(id),
    (ids) => createRowsQuery(request, ids, periods),
  )
  const rows = answers.flatMap(({ query, rows: own }) => own.map((row) => shapeProject(query, row)))
  const ordered = [
    ...orderProjects(rows, request),
    ...refused.toSorted((one, other) => (one.project < other.project ? -1 : 1)),
  ]
  const page = ordered.slice(request.offset, request.offset + request.limit)
  const data = await addSeries(page, request, periods, read)
  const { limit, offset } = request
  return {
    ...describeRequest(request, periods),
    pagination: { limit, offset, returned: data.length, total: projects.length },
    data,
  }
}

/** Reads the rows of a query about those projects that are meant. */
type Read = (isMeant: (id: string) => boolean, toQuery: ToQuery) => Promise<readonly QueryRows[]>

const chooseProjects = (
  neighbours: readonly Neighbours[],
  isMeant: (id: string) => boolean,
): readonly Neighbours[] =>
  neighbours.map(({ data, projects }) => ({
    data,
    projects: projects.filter(({ id }) => isMeant(id)),
  }))

/** Builds the part of the response that repeats the request. */
const describeRequest = (
  { projects: _projects, org: _org, ...query }: AcrossRequest,
  { period, compared }: Periods,
): Pick<AcrossResponse, 'period' | 'query' | 'comparison'> => ({
  period: formatPeriod(period),
  query,
  ...(compared === undefined ? {} : { comparison: { period: formatPeriod(compared) } }),
})

async function findFirstEvent(neighbours: readonly Neighbours[]): Promise<Date | null> {
  const found = await Promise.all(
    neighbours.map(({ data, projects }) => data.firstEventAt(projects.map(({ id }) => id))),
  )
  const moments = found.flatMap((moment) => (moment === null ? [] : [moment.getTime()]))
  return moments.length === 0 ? null : new Date(Math.min(...moments))
}

type ResponseRow = AcrossResponse['data'][number]

const isAnswered = (row: ResponseRow): row is AcrossRow => 'metrics' in row

/** Adds the series to the rows of a page, if the request asks for them. */
async function addSeries(
  page: readonly ResponseRow[],
  request: AcrossRequest,
  periods: Periods,
  read: Read,
): Promise<readonly ResponseRow[]> {
  const { interval } = request
  if (interval === undefined) return page
  const ids = new Set(page.filter(isAnswered).map(({ project }) => project))
  const answers = await read(
    (id) => ids.has(id),
    (some) => createSeriesQuery(request, interval, some, periods),
  )
  const series = new Map(answers.flatMap(({ query, rows }) => [...shapeSeries(query, rows)]))
  return page.map((row) =>
    isAnswered(row) ? { ...row, series: series.get(row.project) ?? [] } : row,
  )
}
