/** The laws of formats: the same numbers in five formats, and the same rows in a stream; on one shard and across two. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { buffer } from 'node:stream/consumers'
import type { TableFormat } from '../../../../src/contract/response-formats.js'
import { QUERY } from '../../../../src/analytics/operations/query.js'
import { WRITERS } from '../../../../src/http/formats/send-table.js'
import type { AnalyticsQueryResponse, Row } from '../../../../src/contract/api.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { event, request } from '../../../support/arbitrary/world.js'
import { startCluster, type TestCluster } from '../../../support/cluster/cluster.js'
import {
  newWideProject,
  runQuery,
  sendToShards,
  streamQuery,
} from '../../../support/cluster/wide-world.js'
import { scaled } from '../../../support/effort.js'
import { toExpectedTable } from '../../../support/formats/expected-table.js'
import { readTable } from '../../../support/formats/read-table.js'
import type { PartialRequest } from '../../../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const QUESTIONS = scaled(12)
const WIDTHS = [1, 2]
const FORMATS = Object.keys(WRITERS) as TableFormat[]

let cluster: TestCluster
let projects: readonly StoredProject[]

beforeAll(async () => {
  cluster = await startCluster(2)
  projects = await Promise.all(
    WIDTHS.map((width) => newWideProject(cluster, cluster.shards.slice(0, width))),
  )
  const events = fc.array(event, { minLength: 60, maxLength: 60, size: 'max' })
  const [sent = []] = fc.sample(events, { seed: SEED, numRuns: 1 })
  await sendToShards(
    cluster,
    projects,
    projects.flatMap(({ id }) => sent.map((one) => ({ ...one, project: id }))),
  )
})
afterAll(() => cluster.stop())

const holds = (law: (project: StoredProject, asked: Parameters<typeof runQuery>[2]) => unknown) =>
  fc.assert(
    fc.asyncProperty(fc.constantFrom(...WIDTHS.keys()), request, async (i, asked) => {
      await law(projects[i]!, asked)
    }),
    { seed: SEED, numRuns: QUESTIONS, endOnFailure: false },
  )

test('an answer has the same rows in every format', () =>
  holds(async (project, asked) => {
    const answer = await runQuery(cluster, project, asked)
    for (const format of FORMATS) {
      const bytes = await buffer(WRITERS[format](QUERY.toTable(answer)))
      expect(await readTable(format, bytes)).toEqual(toExpectedTable(format, answer))
    }
  }))

/** Reads all rows of an answer as JSON, page by page. */
async function readAll(
  project: StoredProject,
  asked: PartialRequest,
  before: readonly Row[] = [],
): Promise<AnalyticsQueryResponse> {
  const page = { ...asked, limit: 1000, offset: (asked.offset ?? 0) + before.length }
  const answer = await runQuery(cluster, project, page)
  const data = [...before, ...answer.data]
  return answer.data.length < 1000 ? { ...answer, data } : readAll(project, asked, data)
}

test('a stream has all rows of the JSON', () =>
  holds(async (project, asked) => {
    const { data, pagination, totals } = await readAll(project, asked)
    expect(await streamQuery(cluster, project, asked)).toEqual({
      data,
      total: pagination.total,
      ...(totals === undefined ? {} : { totals }),
    })
  }))
