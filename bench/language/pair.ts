/** What is measured beside each other: a question, and a simpler one or statements by hand. */
import type { Statement } from '../../src/clickhouse/sql.js'
import type { BenchRequest } from '../shared/service.js'

export type HandRow = Readonly<Record<string, unknown>>

/** Statements that an expert writes by hand for a question, on the facts. The service is compared with the one that takes the least CPU time. */
export interface ByHand {
  readonly name: string
  readonly ways: readonly Statement[]
  /** @throws Error when the rows by hand are not the answer of the service, which is given as text */
  readonly check: (answer: string, rows: readonly HandRow[]) => void
}

/** A simpler question. */
export interface Simpler {
  readonly name: string
  readonly request: BenchRequest
}

export interface Pair {
  readonly name: string
  readonly request: BenchRequest
  readonly beside: ByHand | Simpler
  /** The statement that the service runs for the request, which is then measured alone as well. */
  readonly alone?: Statement
  /** How many times as long the question may take, or as much CPU time, or how many milliseconds. Absent: it has no target. */
  readonly target?:
    { readonly times: number } | { readonly cpuTimes: number } | { readonly ms: number }
}
