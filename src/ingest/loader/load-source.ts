/** Names and selects the rows that one load takes from the inbox: a batch, or stretches of the stream. */
import { createHash } from 'node:crypto'
import { sql, string, uint64s, type Sql } from '../../clickhouse/sql.js'
import { POSITION } from '../inbox/position.js'

/**
 * Stretches of the stream, in order; no two of them touch. The first one begins at position 0, and is empty unless it has rows
 * of block 0. Positions are decimal texts: some are above 2^53.
 */
export interface Stretches {
  readonly starts: readonly string[]
  /** Each is the position behind the last one of the stretch. */
  readonly ends: readonly string[]
}

export const NO_STRETCHES: Stretches = { starts: ['0'], ends: ['0'] }

/** Returns whether stretches have no position. */
export const areEmpty = ({ ends }: Stretches): boolean => ends.at(-1) === '0'

/** Stretches as two arrays of a statement, which are constant within it. */
export type StretchArrays = Readonly<Record<keyof Stretches, Sql>>

/** Passes stretches as parameters. */
export const passStretches = ({ starts, ends }: Stretches): StretchArrays => ({
  starts: uint64s(starts.map(BigInt)),
  ends: uint64s(ends.map(BigInt)),
})

/** Returns whether a position is in one of the stretches: finds the last start that is not behind it, and compares the end. */
export const isWithin = (position: Sql, { starts, ends }: StretchArrays): Sql =>
  sql`(${position} < transform(roundDown(${position}, ${starts}), ${starts}, ${ends}))`

/** Above all positions. */
const BEYOND = sql`toUInt64(18446744073709551615)`

/** Builds stretches from an array of pairs, a start and an end each. Those that touch each other become one. */
export function joinStretches(pairs: Sql): StretchArrays {
  const sorted = sql`arraySort(arrayPushFront(${pairs}, (toUInt64(0), toUInt64(0))))`
  const [starts, ends] = [sql`tupleElement(${sorted}, 1)`, sql`tupleElement(${sorted}, 2)`]
  return {
    starts: sql`arrayFilter((start, before) -> start != before, ${starts}, arrayShiftRight(${ends}, 1, ${BEYOND}))`,
    ends: sql`arrayFilter((end, next) -> end != next, ${ends}, arrayShiftLeft(${starts}, 1, ${BEYOND}))`,
  }
}

/** What a load takes: stretches of the stream, or a batch, which has none. */
export interface LoadSource extends Stretches {
  readonly batch: string
}

/** Names a batch as what a load takes. */
export const takeBatch = (batch: string): LoadSource => ({ batch, ...NO_STRETCHES })

/** The start of the batch names of all loads of the stream. */
export const STREAM_PREFIX = 'stream-'

/** Returns whether a load is of the stream. */
export const isOfStream = ({ batch }: Pick<LoadSource, 'batch'>): boolean =>
  batch.startsWith(STREAM_PREFIX)

/**
 * Returns the batch name of stretches: the first block, the last block and a hash of them all. The same rows have the same
 * name.
 */
export function nameStretches({ starts, ends }: Stretches): string {
  const first = ends[0] === '0' ? starts[1] : starts[0]
  const blocks = [BigInt(first ?? 0), BigInt(ends.at(-1) ?? 0) - 1n].map((at) => at >> 32n)
  const hash = createHash('sha256').update(`${starts.join()}-${ends.join()}`).digest('hex')
  return `${STREAM_PREFIX}${blocks.join('-')}-${hash.slice(0, 16)}`
}

/** Builds the FROM clause, with its conditions, that selects the rows of a load, without blank lines. */
export const buildFromClause = (source: LoadSource): Sql =>
  isOfStream(source)
    ? sql`FROM inbox WHERE batch = '' AND line != '' AND ${isWithin(POSITION, passStretches(source))}`
    : sql`FROM inbox WHERE batch = ${string(source.batch)}`

/** Returns the name under which the rejected rows of a load are stored; those of the stream have one in common. */
export const nameRejections = (source: LoadSource): string =>
  isOfStream(source) ? '' : source.batch
