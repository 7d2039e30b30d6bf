/** What `tallyhouse doctor` checks without a store: the configuration and the data folder. */
import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { KeyFileError } from '../../auth/jwk.js'
import { getPrivateKeyFile } from '../../auth/key-files.js'
import { readSigningKeyId } from '../../auth/signing-key.js'
import { ConfigError, type Config } from '../../config/config.js'
import { openGeoip } from '../../ingest/enrichment/geoip.js'
import { isSystemError, UserError } from '../../lib/errors.js'
import {
  fail,
  judgeDataFolder,
  judgeSigningKey,
  ok,
  type DataFolder,
  type Finding,
} from './judgments.js'

/** A check of a configuration. */
interface LocalCheck {
  readonly name: string
  readonly examine: (config: Config) => Promise<Finding>
}

/** Reads the configuration; returns the finding instead if it is invalid. */
export function readConfiguration(read: () => Config): Config | Finding {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(error.message, 'correct this environment variable; "tallyhouse --help" lists all')
  }
}

export const LOCAL_CHECKS: readonly LocalCheck[] = [
  { name: 'configuration', examine: examineConfiguration },
  {
    name: 'data folder',
    examine: async ({ dataDir, clickhouse }) =>
      judgeDataFolder({
        path: dataDir,
        state: await readFolderState(dataDir),
        hasStore: clickhouse === undefined,
      }),
  },
  {
    name: 'signing key',
    examine: ({ dataDir }) => examineSigningKey(dataDir),
  },
]

async function examineConfiguration({ clickhouse, geoipDb, role }: Config): Promise<Finding> {
  try {
    if (geoipDb !== undefined) await openGeoip(geoipDb)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return fail(error.message, 'correct GEOIP_DB, or leave it out')
  }
  const store = clickhouse === undefined ? 'the embedded ClickHouse' : clickhouse.url
  return ok(`valid: role ${role}, with ${store}`)
}

async function readFolderState(folder: string): Promise<DataFolder['state']> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    return 'writable'
  } catch (error) {
    const parent = path.dirname(folder)
    if (!isSystemError(error, 'ENOENT') || parent === folder) return 'read-only'
    return (await readFolderState(parent)) === 'read-only' ? 'read-only' : 'absent'
  }
}

async function examineSigningKey(dataDir: string): Promise<Finding> {
  try {
    const kid = await readSigningKeyId(dataDir)
    const mode = kid === undefined ? 0 : (await stat(getPrivateKeyFile(dataDir))).mode
    return judgeSigningKey({ kid, mode })
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error
    return fail(error.message, 'restore DATA_DIR/keys from a copy, or run "tallyhouse key rotate"')
  }
}
