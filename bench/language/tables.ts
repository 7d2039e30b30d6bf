/** The columns of tables of measured questions. */
import { formatTenths, formatWhole, printTable } from '../shared/figures.js'
import type { Measured, Times } from './measure.js'

interface Column {
  readonly head: string
  readonly write: (measured: Measured) => string
}

const compare = (head: string, read: (times: Times) => number): readonly Column[] => [
  { head, write: ({ asked }) => formatTenths(read(asked)) },
  { head: `${head} beside`, write: ({ beside }) => formatTenths(read(beside)) },
  { head: 'times', write: ({ asked, beside }) => (read(asked) / read(beside)).toFixed(2) },
]

const NAMES: readonly Column[] = [
  { head: 'question', write: ({ pair }) => pair.name },
  { head: 'beside', write: ({ pair }) => pair.beside.name },
]
const WALL: readonly Column[] = [
  ...compare('ms', ({ ms }) => ms),
  {
    head: 'statement alone, ms',
    write: ({ alone }) => (alone === undefined ? '–' : formatTenths(alone.ms)),
  },
  {
    head: 'times',
    write: ({ alone, beside }) => (alone === undefined ? '–' : (alone.ms / beside.ms).toFixed(2)),
  },
]
const CPU = compare('CPU ms', ({ cpuMs }) => cpuMs)
const LEAST_CPU = compare('lowest CPU ms', ({ leastCpuMs }) => leastCpuMs)
const ROWS: readonly Column[] = [
  { head: 'rows read', write: ({ asked }) => formatWhole(asked.rowsRead) },
  { head: 'rows read beside', write: ({ beside }) => formatWhole(beside.rowsRead) },
]

function writeTarget({ pair: { target }, asked, beside }: Measured): string {
  if (target === undefined) return '–'
  const [text, isMet] =
    'ms' in target
      ? [`${target.ms} ms`, asked.ms < target.ms]
      : 'cpuTimes' in target
        ? [`${target.cpuTimes} × CPU`, asked.cpuMs <= target.cpuTimes * beside.cpuMs]
        : [`${target.times} ×`, asked.ms <= target.times * beside.ms]
  return isMet ? text : `${text}: missed`
}
const TARGET: Column = { head: 'target', write: writeTarget }

/** What a table has: all that is measured, or what other work on the machine hardly changes. */
export const TABLES = {
  all: [...NAMES, ...WALL, ...CPU, ...ROWS, TARGET],
  cpu: [...NAMES, ...CPU, ...LEAST_CPU, ...ROWS, TARGET],
} as const satisfies Readonly<Record<string, readonly Column[]>>

export function printMeasured(columns: readonly Column[], measured: readonly Measured[]): void {
  printTable(
    columns.map(({ head }) => head),
    measured.map((one) => columns.map(({ write }) => write(one))),
  )
}
