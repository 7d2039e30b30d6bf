/** Imports files while the service is killed. Rows have no ids; each file is imported again until that succeeds. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../src/demo/random.js'
import { packagePath } from '../../../src/lib/package-path.js'

export interface KilledImports {
  /** Starts to import the next file, unless an import is running. */
  readonly begin: () => void
  /** Kills the command; false if none is running. */
  readonly kill: () => boolean
  /** The marks of all rows of all files so far. */
  readonly marks: ReadonlySet<string>
  /** The number of runs of the command by outcome. */
  readonly outcomes: Readonly<Record<string, number>>
  /** Resolves once every file is imported. */
  readonly done: () => Promise<void>
}

const ROWS = 2_000
const BACK_MS = 12 * 86_400_000

/** @param folder the folder to write the files to @param env the environment of the command */
export function createImports(
  folder: string,
  env: NodeJS.ProcessEnv,
  projectId: string,
  random: Random,
): KilledImports {
  const marks = new Set<string>()
  const outcomes: Record<string, number> = {}
  const start = Date.now() - BACK_MS
  let files = 0
  let child: ChildProcess | undefined
  let running: Promise<void> | undefined

  const line = (): string => {
    const n = marks.size
    const mark = `i${n}`
    marks.add(mark)
    return JSON.stringify({
      timestamp: new Date(start + ((n * 5_000) % (BACK_MS - 3_600_000))).toISOString(),
      user_id: `u${random.below(600)}`,
      path: `/${n % 100}`,
      properties: { mark },
    })
  }

  /** @returns the outcome of the command: `done`, `failed` or `killed` */
  async function importOnce(file: string): Promise<string> {
    const args = [packagePath('dist/cli.js'), 'import', '--project', projectId, file]
    child = spawn(process.execPath, args, { env, stdio: 'ignore' })
    const [code] = (await once(child, 'close')) as [number | null]
    child = undefined
    if (code === null) return 'killed'
    return code === 0 ? 'done' : 'failed'
  }

  async function importAll(): Promise<void> {
    files += 1
    const file = path.join(folder, `rows-${files}.ndjson`)
    await writeFile(file, Array.from({ length: ROWS }, line).join('\n'))
    for (let outcome = ''; outcome !== 'done';) {
      outcome = await importOnce(file)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      if (outcome !== 'done') await sleep(100)
    }
    running = undefined
  }

  return {
    marks,
    outcomes,
    begin: () => {
      running ??= importAll()
    },
    kill: () => child?.kill('SIGKILL') ?? false,
    done: () => running ?? Promise.resolve(),
  }
}
