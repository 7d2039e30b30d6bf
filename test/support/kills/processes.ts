/** Finds the processes that work on a data folder: the service, its engine, imports. */
import { readdir, readFile } from 'node:fs/promises'

/** A process, with what tells why it does not end. */
export interface FoundProcess {
  readonly pid: number
  readonly command: string
  /** The state and the kernel function of each of its threads, by number. */
  readonly threads: Readonly<Record<string, number>>
}

/** Lists the processes whose command line or environment names the folder, without this one. */
export async function listProcesses(dataDir: string): Promise<readonly FoundProcess[]> {
  const names = await readdir('/proc')
  const pids = names.map(Number).filter((pid) => pid > 0 && pid !== process.pid)
  const found = await Promise.all(pids.map((pid) => inspect(pid, dataDir)))
  return found.filter((one) => one !== undefined)
}

/** Kills what `listProcesses` lists. */
export async function killProcesses(dataDir: string): Promise<void> {
  for (const { pid } of await listProcesses(dataDir)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
}

const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '')

async function inspect(pid: number, dataDir: string): Promise<FoundProcess | undefined> {
  const command = await read(`/proc/${pid}/cmdline`)
  if (!`${command}\0${await read(`/proc/${pid}/environ`)}`.includes(dataDir)) return undefined
  const threads: Record<string, number> = {}
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const folder = `/proc/${pid}/task/${thread}`
    const state = /^State:\s*(\w)/m.exec(await read(`${folder}/status`))?.[1] ?? '?'
    const place = `${state} ${await read(`${folder}/wchan`)}`
    threads[place] = (threads[place] ?? 0) + 1
  }
  return { pid, command: command.replaceAll('\0', ' ').trim(), threads }
}
