/** Takes times, sums them up, and prints them as tables. */
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { packagePath } from '../../src/lib/package-path.js'

export interface Summary {
  readonly median: number
  readonly p95: number
}

/** How many milliseconds some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** The median and the 95th percentile of at least one time. */
export function summaryOf(times: readonly number[]): Summary {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!
  return { median: at(0.5), p95: at(0.95) }
}

/** A time in milliseconds, or whatever has one digit behind the point. */
export const tenths = (value: number): string => value.toFixed(1)
/** A count with a comma between thousands. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Prints a table in Markdown: its first column is text, the others are figures. */
export function printTable(head: readonly string[], lines: readonly (readonly string[])[]): void {
  const rule = head.map((_, i) => (i === 0 ? '---' : '--:'))
  for (const line of [head, rule, ...lines]) console.log(`| ${line.join(' | ')} |`)
}

/** Prints what is measured, and on what. */
export async function printMachine(now: Date): Promise<void> {
  const { version } = JSON.parse(await readFile(packagePath('package.json'), 'utf8')) as {
    version: string
  }
  const [cpu] = os.cpus()
  console.log(`${now.toISOString().slice(0, 10)}, tallyhouse ${version}, node ${process.version}`)
  console.log(`${os.cpus().length} × ${cpu?.model ?? 'unknown'}, ${os.type()} ${os.release()}`)
}
