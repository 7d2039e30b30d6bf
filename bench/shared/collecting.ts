/** The events that the collector is measured with, and the memory of the processes that take them. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'

const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
]

/** Creates an event as the tracking script sends it, of one of 20,000 visitors. */
export function createVisit(n: number): object {
  const visitor = (n * 7_919) % 20_000
  return {
    event_id: randomUUID(),
    name: n % 10 === 0 ? 'signup' : 'pageview',
    url: `https://example.com/articles/${n % 500}?utm_source=news`,
    referrer_url: n % 3 === 0 ? 'https://www.google.com/' : 'https://news.ycombinator.com/',
    ip: `10.${visitor >> 8}.${visitor & 255}.1`,
    user_agent: AGENTS[visitor % AGENTS.length],
    properties: { plan: visitor % 10 === 0 ? 'pro' : 'free' },
  }
}

/** Finds the only child of a process: the engine, for the service. */
export const findChild = async (pid: number): Promise<number> =>
  Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'))

/** The seconds of CPU time that a process has used, on a system with 100 ticks per second. */
export async function readCpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** The resident memory of a process in megabytes. */
export const readMemory = (pid: number): Promise<number> => readStatus(pid, /VmRSS:\s+(\d+)/)

/**
 * The memory that a process has allocated, in megabytes: its resident memory without the pages of files. The engine maps a
 * program of 640 MB, of which more is resident with each code path that is used.
 */
export const readAllocatedMemory = (pid: number): Promise<number> =>
  readStatus(pid, /RssAnon:\s+(\d+)/)

async function readStatus(pid: number, kilobytes: RegExp): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(kilobytes.exec(status)?.[1] ?? 0) / 1_024
}
