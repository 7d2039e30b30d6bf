/** Measures times, summarizes them, and prints tables. */
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { packagePath } from '../../src/lib/package-path.js'

export interface Summary {
  readonly median: number
  readonly p95: number
}

/** Runs some work and returns the milliseconds it took. */
export async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** Returns the median and the 95th percentile. @param times at least one */
export function summarize(times: readonly number[]): Summary {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!
  return { median: at(0.5), p95: at(0.95) }
}

/** One decimal: `12.3`. */
export const formatTenths = (value: number): string => value.toFixed(1)
/** Rounded, with thousands separated: `12,345`. */
export const formatWhole = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Prints a Markdown table. The first column is text, the others are numbers. */
export function printTable(head: readonly string[], lines: readonly (readonly string[])[]): void {
  const rule = head.map((_, i) => (i === 0 ? '---' : '--:'))
  for (const line of [head, rule, ...lines]) console.log(`| ${line.join(' | ')} |`)
}

/** Prints the date, the versions and the machine. */
export async function printMachine(now: Date): Promise<void> {
  const { version } = JSON.parse(await readFile(packagePath('package.json'), 'utf8')) as {
    version: string
  }
  const [cpu] = os.cpus()
  console.log(`${now.toISOString().slice(0, 10)}, tallyhouse ${version}, node ${process.version}`)
  console.log(`${os.cpus().length} × ${cpu?.model ?? 'unknown'}, ${os.type()} ${os.release()}`)
}
