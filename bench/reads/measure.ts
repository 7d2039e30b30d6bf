/** Measures one question: the service, the best statement by hand, and what is usual, in turn. */
import { isDeepStrictEqual } from 'node:util'
import type { AnalyticsQueryResponse } from '../../src/contract/api.js'
import { statementOf, type BareClient } from '../shared/bare.js'
import { summaryOf, timed, type Summary } from '../shared/figures.js'
import { asUsual } from './queries-as-usual.js'
import { waysOf, type Way } from './queries-by-hand.js'
import { requestOf, type Question } from './queries.js'
import type { Ask } from '../shared/service.js'

export interface Measured {
  readonly question: Question
  readonly service: Summary
  readonly byHand: Summary
  /** Which of the ways to write it by hand was the quickest. */
  readonly way: string
  /** Absent where it is not asked that way. */
  readonly usual: Summary | undefined
  /** Rows that the service's statement reads. */
  readonly rowsRead: number
}

export interface Measuring {
  readonly ask: Ask
  readonly client: BareClient
  /** How often each is measured, and how often what is usual. */
  readonly runs: number
  readonly usualRuns: number
  readonly now: Date
}

/** @throws Error when the service and a statement by hand do not say the same. */
export async function measure(question: Question, measuring: Measuring): Promise<Measured> {
  const { ask, client, runs, usualRuns, now } = measuring
  const request = requestOf(question)
  const body = JSON.stringify(request)
  const usual = question.isUsual ? asUsual(question) : []
  const askUsual = async (): Promise<void> => {
    for (const one of usual) await client.run(one)
  }

  const answer = await ask(body)
  await ask(body)
  const way = await quickest(question, answer, client)
  if (usual.length > 0) await askUsual()
  const { statistics } = await client.run(statementOf(request, question.project, now))

  const times = { service: [] as number[], byHand: [] as number[], usual: [] as number[] }
  for (let i = 0; i < runs; i++) {
    times.service.push(await timed(() => ask(body)))
    times.byHand.push(await timed(() => client.run(way.statement)))
    if (usual.length > 0 && i < usualRuns) times.usual.push(await timed(askUsual))
  }
  return {
    question,
    way: way.name,
    service: summaryOf(times.service),
    byHand: summaryOf(times.byHand),
    usual: times.usual.length > 0 ? summaryOf(times.usual) : undefined,
    rowsRead: statistics?.rows_read ?? 0,
  }
}

/** Runs all ways to write it by hand, each as often as the others are warmed up, and checks what they say. */
async function quickest(
  question: Question,
  answer: AnalyticsQueryResponse,
  client: BareClient,
): Promise<Way> {
  const tried: (readonly [number, Way])[] = []
  for (const way of waysOf(question)) {
    const { data } = await client.run<HandRow>(way.statement)
    expectSame(question, answer, data, way.name)
    tried.push([await timed(() => client.run(way.statement)), way])
  }
  return tried.reduce((best, one) => (one[0] < best[0] ? one : best))[1]
}

type HandRow = Readonly<Record<string, string | number | null>>

function expectSame(
  question: Question,
  { query, data }: AnalyticsQueryResponse,
  rows: readonly HandRow[],
  way: string,
): void {
  const isSeries = question.shape.isSeries === true
  const said = data.map(({ group, metrics }) => {
    const [key = ''] = Object.values(group)
    return [isSeries ? key.slice(0, 10) : key, ...Object.values(metrics)]
  })
  const counted = rows.map((row) => [
    row['key'],
    ...query.metrics.map((metric) => row[`metric_${metric}`]),
  ])
  if (isDeepStrictEqual(said, counted)) return
  const at = said.findIndex((row, i) => !isDeepStrictEqual(row, counted[i]))
  throw new Error(
    `${question.project}, ${question.period.name}, ${question.shape.name}: row ${at} is ${JSON.stringify(said[at])}, by hand (${way}) ${JSON.stringify(counted[at])}; ${said.length} and ${counted.length} rows`,
  )
}
