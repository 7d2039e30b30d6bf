/** Cases from test suites of other products, if they are there, and how a response differs from one. */
import { existsSync, readFileSync } from 'node:fs'
import type { AnalyticsQueryResponse } from '../../../src/contract/api.js'
import { packagePath } from '../../../src/lib/package-path.js'
import type { PartialRequest, SentEvent } from './world.js'

interface ExpectedRow {
  readonly group?: string | null
  readonly date?: string
  readonly optional?: boolean
  readonly [metric: string]: unknown
}

/** A case: events, a query, and the known numbers. */
export interface Case {
  readonly id: string
  readonly events: readonly SentEvent[]
  readonly request: PartialRequest
  readonly expect: {
    readonly rows: readonly ExpectedRow[]
    readonly order: 'exact' | 'sorted' | 'set'
    readonly tolerance?: number
    readonly total_rows?: number
    readonly bucket_count?: number
    readonly interval?: 'hour' | 'day'
  }
}

const FILE = packagePath('../shared/cases/cases.json')
/** All cases; none if they are missing. */
export const KNOWN_CASES: readonly Case[] = existsSync(FILE)
  ? (JSON.parse(readFileSync(FILE, 'utf8')) as Case[])
  : []

/** Lists the differences between a response and its case. */
export function listDifferences(
  { request, expect: want }: Case,
  answer: AnalyticsQueryResponse,
): string[] {
  const wrong: string[] = []
  const token = request.group_by?.[0]
  const keyOf = (row: ExpectedRow): string => row.date ?? row.group ?? ''
  const got = rebucket(
    answer.data.map((row) => ({
      key: token === undefined ? '' : (Object.values(row.group)[0] ?? ''),
      metrics: row.metrics,
    })),
    want.interval,
  )
  for (const row of want.rows) {
    const found = got.find(({ key }) => key === keyOf(row))
    if (found === undefined) {
      if (row.optional !== true) wrong.push(`no row ${keyOf(row)}`)
      continue
    }
    for (const [name, value] of Object.entries(row)) {
      if (name === 'group' || name === 'date' || name === 'optional') continue
      if (!fits(value, found.metrics[name], want.tolerance ?? 0)) {
        wrong.push(
          `${keyOf(row)} ${name}: ${String(found.metrics[name])}, not ${JSON.stringify(value)}`,
        )
      }
    }
  }
  const listed = new Set(want.rows.map(keyOf))
  const others = got.filter(({ key }) => !listed.has(key))
  if (token === 'interval:auto') {
    for (const { key, metrics } of others) {
      if (Object.values(metrics).some((value) => value !== null && value !== 0)) {
        wrong.push(`bucket ${key} is not empty`)
      }
    }
  } else {
    wrong.push(...others.map(({ key }) => `unexpected row ${key}`))
  }
  if (want.order === 'exact') {
    const keys = got.map(({ key }) => key).filter((key) => listed.has(key))
    const wanted = want.rows.map(keyOf).filter((key) => keys.includes(key))
    if (keys.join('\n') !== wanted.join('\n')) wrong.push(`order ${keys.join()}`)
  }
  if (want.total_rows !== undefined && answer.pagination.total !== want.total_rows) {
    wrong.push(`total ${answer.pagination.total}`)
  }
  if (want.bucket_count !== undefined && got.length !== want.bucket_count) {
    wrong.push(`buckets ${got.length}`)
  }
  return wrong
}

interface GotRow {
  readonly key: string
  readonly metrics: Readonly<Record<string, number | null>>
}

/** Sums hours to days if the case has days. Its users never occur in two hours of one day. */
function rebucket(rows: readonly GotRow[], interval: 'hour' | 'day' | undefined): GotRow[] {
  if (interval !== 'day') return [...rows]
  const days = new Map<string, Record<string, number>>()
  for (const { key, metrics } of rows) {
    const day = `${key.slice(0, 10)}T00:00:00Z`
    const sums = days.get(day) ?? {}
    days.set(day, sums)
    for (const [name, value] of Object.entries(metrics))
      sums[name] = (sums[name] ?? 0) + (value ?? 0)
  }
  return [...days].map(([key, metrics]) => ({ key, metrics }))
}

function fits(want: unknown, got: number | null | undefined, tolerance: number): boolean {
  if (typeof want === 'object' && want !== null && 'any_of' in want) {
    return (want.any_of as unknown[]).some((one) => fits(one, got, tolerance))
  }
  if (typeof want !== 'number' || typeof got !== 'number') return want === got
  return Math.abs(want - got) <= tolerance
}
