/** Opens a copy of the store of a release with a build, as its users do: they start the service. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { getEngineDir } from '../../../src/clickhouse/embedded/engine-dir.js'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { startServe } from '../cli/serve.js'
import { until } from '../until.js'

/** The releases whose stores are kept, the oldest first. */
export const listReleases = (): readonly string[] =>
  readdirSync(packagePath('test/support/stores'))
    .flatMap((name) => /^store-of-(\d+\.\d+\.\d+)\.tar\.gz$/.exec(name)?.[1] ?? [])
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))

/** Asks until the answer is the wanted one, and returns it; after five minutes, returns whatever it is. */
export async function waitFor(wanted: unknown, ask: () => Promise<unknown>): Promise<unknown> {
  let answer: unknown
  await until(async () => {
    answer = await ask()
    // Objects of the client and of fetch have other prototypes than those of a test.
    return isDeepStrictEqual(JSON.parse(JSON.stringify(answer)), wanted)
  }).catch(() => undefined)
  return answer
}

export interface ReleaseStore {
  readonly dataDir: string
  readonly store: Store
  /** Sends a body by POST to the service. */
  readonly send: (route: string, token: string, body: object) => Promise<Response>
  /** Queries the project `shop` with the API key that the release issued; returns the rows and totals. */
  readonly query: (
    request: object,
  ) => Promise<{ readonly data: unknown; readonly totals?: unknown }>
  readonly close: () => Promise<void>
}

/** @param build the folder of the build that opens it; this one by default */
export async function openReleaseStore(version: string, build?: string): Promise<ReleaseStore> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-release-'))
  const archive = packagePath(`test/support/stores/store-of-${version}.tar.gz`)
  await promisify(execFile)('tar', ['-xzf', archive, '-C', dataDir])
  const key = await readFile(path.join(dataDir, 'key'), 'utf8')
  const serve = startServe({ DATA_DIR: dataDir }, [], '', build)
  const stop = async (): Promise<void> => {
    serve.child.kill('SIGTERM')
    await serve.exit
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const address = await serve.listening()
    const file = await readEngineFile(getEngineDir(dataDir))
    const store = connectStore(file!.endpoint)
    const send = async (route: string, token: string, body: object): Promise<Response> => {
      const request = {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
      // A busy machine answers 503, which clients send again.
      let response = await fetch(`${address}${route}`, request)
      await until(async () => {
        if (response.status === 503) response = await fetch(`${address}${route}`, request)
        return response.status !== 503
      })
      return response
    }
    return {
      dataDir,
      store,
      send,
      query: async (request) => {
        const response = await send('/v1/analytics/query', key, request)
        const body = (await response.json()) as { data: unknown; totals?: unknown }
        if (response.status !== 200) throw new Error(JSON.stringify(body))
        const { data, totals } = body
        return totals === undefined ? { data } : { data, totals }
      },
      close: async () => {
        await store.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
