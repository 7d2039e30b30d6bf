/** The npm packages that have libchdb, the library of the embedded engine, and where there is none. */
import { createRequire } from 'node:module'
import path from 'node:path'

/**
 * chdb's packages by platform and architecture. Only that of linux-x64 was tried. A package that the registry has can be added to
 * the optional dependencies in package.json; until then, it is used where somebody installs it.
 */
const PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@chdb/lib-linux-x64-gnu',
  'linux-arm64': '@chdb/lib-linux-arm64-gnu',
  'darwin-arm64': '@chdb/lib-darwin-arm64',
  'darwin-x64': '@chdb/lib-darwin-x64',
}

/** There is no embedded engine on this machine. The message also says what works there. */
export class NoEngineError extends Error {
  override readonly name = 'NoEngineError'
  readonly reason: string
  /** What to do instead. */
  readonly cure =
    'set CLICKHOUSE_URL to a ClickHouse server, or run docker compose up, which starts a server and the service'

  constructor(missing: string) {
    super()
    this.reason = `there is no embedded ClickHouse here: ${missing}`
    this.message = `${this.reason}; ${this.cure}`
  }
}

interface Machine {
  readonly platform: string
  readonly arch: string
  /** Returns the main file of a package. Throws if it is not installed. */
  readonly resolve: (name: string) => string
}

const THIS_MACHINE: Machine = {
  platform: process.platform,
  arch: process.arch,
  resolve: createRequire(import.meta.url).resolve,
}

/**
 * Returns the path of libchdb.
 *
 * @throws NoEngineError if it does not exist for the machine, or is not installed
 */
export function findLibrary({ platform, arch, resolve }: Machine = THIS_MACHINE): string {
  const name = PACKAGES[`${platform}-${arch}`]
  if (name === undefined) throw new NoEngineError(`it does not exist for ${platform} on ${arch}`)
  try {
    return path.join(path.dirname(resolve(name)), 'libchdb.so')
  } catch {
    throw new NoEngineError(`the package ${name} is not installed`)
  }
}
