/** The law of queries across projects: random requests, and what each row must be, that of the query about the project alone. */
import { expect } from '@jest/globals'
import fc from 'fast-check'
import type { AcrossRequest, AcrossResponse } from '../../../src/contract/across-projects.js'
import type { AnalyticsQueryResponse } from '../../../src/contract/api.js'
import { ApiError, buildErrorBody } from '../../../src/contract/errors.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { attributeRequest, rollupRequest } from '../arbitrary/rollups.js'
import { fillAcross } from './across.js'
import { fillDefaults, type PartialRequest } from './world.js'

/** Random requests. The periods of a comparison or a series with the date range `all` are not those of each project. */
export const acrossRequest: fc.Arbitrary<AcrossRequest> = fc.noBias(
  fc
    .record({
      asked: fc.oneof(rollupRequest, attributeRequest),
      interval: fc.constantFrom(undefined, undefined, 'day', 'week', 'month'),
      isAll: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      pick: fc.nat(),
    })
    .map(({ asked, interval, isAll, pick }): AcrossRequest => {
      const { metrics: all = [], filters = [], filtersOperator = 'and', ...others } = asked
      const { compare, compare_align, time_zone, date_range } = others
      const names = all.filter((metric) => typeof metric === 'string')
      const metrics = names.length === 0 ? (['users'] as const) : names
      const columns = [...metrics, 'project'] as const
      return fillAcross({
        date_range: isAll ? 'all' : date_range,
        metrics,
        filters,
        filtersOperator,
        order_by: pick % 3 === 0 ? [] : [[columns[pick % columns.length]!, PICKED[pick % 2]!]],
        ...(time_zone === undefined ? {} : { time_zone }),
        ...(isAll || compare === undefined ? {} : { compare }),
        ...(isAll || compare_align === undefined ? {} : { compare_align }),
        ...(isAll || interval === undefined ? {} : { interval }),
      })
    }),
)
const PICKED = ['asc', 'desc'] as const

type RunAlone = (project: StoredProject, request: PartialRequest) => Promise<AnalyticsQueryResponse>

/** Expects each row of a response to be what the query about its project returns, in the order of the request. */
export async function expectEachAlone(
  { data, pagination, ...head }: AcrossResponse,
  projects: readonly StoredProject[],
  request: AcrossRequest,
  runAlone: RunAlone,
): Promise<void> {
  const { interval, order_by } = request
  const asked = toAlone(request)
  const expected = await Promise.all(
    projects.map(async (project) => {
      const { id } = project
      try {
        const [alone, series] = await Promise.all([
          runAlone(project, fillDefaults(asked)),
          interval === undefined
            ? undefined
            : runAlone(project, withoutComparison(asked, interval)),
        ])
        if (asked.date_range !== 'all') {
          expect(head).toMatchObject({ period: alone.period })
          expect(head.comparison).toEqual(alone.comparison)
        }
        const { metrics, comparison } = alone.data[0]!
        return {
          project: id,
          metrics,
          ...(comparison === undefined ? {} : { comparison }),
          ...(series === undefined
            ? {}
            : { series: series.data.map((row) => ({ ...row.group, metrics: row.metrics })) }),
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return { project: id, ...buildErrorBody(error) }
      }
    }),
  )
  const byId = <Row extends { readonly project: string }>(rows: readonly Row[]): readonly Row[] =>
    rows.toSorted((one, other) => (one.project < other.project ? -1 : 1))
  expect(byId(data)).toEqual(byId(expected))
  expect(pagination.total).toBe(projects.length)

  const [column, direction] = order_by[0] ?? [asked.metrics[0]!, 'desc']
  const values = data.flatMap((row) =>
    'metrics' in row
      ? [
          column === 'project'
            ? row.project
            : ((row.metrics as Readonly<Record<string, number | null>>)[column] ?? null),
        ]
      : [],
  )
  const known = values.filter((value) => value !== null)
  const ascending = known.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const sorted = direction === 'asc' ? ascending : ascending.toReversed()
  expect(values).toEqual([...sorted, ...values.slice(sorted.length).map(() => null)])
}

/** Returns the query that is asked about each project. */
const toAlone = ({
  interval: _interval,
  projects: _projects,
  org: _org,
  order_by: _order,
  ...asked
}: AcrossRequest): Omit<AcrossRequest, 'interval' | 'projects' | 'org' | 'order_by'> => asked

function withoutComparison(
  { compare: _compare, compare_align: _align, ...asked }: Omit<AcrossRequest, 'order_by'>,
  interval: NonNullable<AcrossRequest['interval']>,
): PartialRequest {
  return { ...asked, group_by: [`interval:${interval}`], limit: 100_000 }
}
