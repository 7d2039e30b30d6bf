/** Opens the stores for a command, with no more access than the command needs. */
import { openCluster, type OpenedCluster } from '../../bootstrap/open-cluster.js'
import type { StoreAccess } from '../../bootstrap/prepare-store.js'
import { isStoreAway } from '../../bootstrap/retry-while-away.js'
import { UserError } from '../../lib/errors.js'
import type { CommandContext } from './context.js'
import { formatError } from './output.js'

/** The access of every short command that opens the store. `serve` and `demo` run the service instead. */
const ACCESS = {
  import: 'write',
  'import --dry-run': 'read',
  migrate: 'write',
  'migrate --dry-run': 'any',
  backup: 'write',
  restore: 'write',
  'project create': 'write',
  'project list': 'read',
  'project show': 'read',
  'project status': 'read',
  'project update': 'write',
  'project rotate-token': 'write',
  'project move': 'write',
  'project widen': 'write',
  'project delete': 'read',
  'project delete --yes': 'write',
  'key issue': 'write',
  'key list': 'read',
  'key revoke': 'write',
  'key rotate': 'write',
  'key retire': 'write',
  open: 'write',
  'user delete': 'read',
  'user delete --yes': 'write',
  usage: 'read',
  'goal set': 'write',
  'goal list': 'read',
  'goal delete': 'write',
  'segment set': 'write',
  'segment list': 'read',
  'segment delete': 'write',
  explain: 'read-rollups',
  // Writes shadow tables that it drops again, and finishes loads that were interrupted.
  'rollups check': 'read-rollups',
  'rollups rebuild': 'write',
} as const satisfies Readonly<Record<string, StoreAccess>>

/**
 * The commands that wait until outdated rollups are rebuilt. The others leave that to them and to the service: a key can be
 * revoked while the service builds for an hour.
 */
const BUILDERS: ReadonlySet<keyof typeof ACCESS> = new Set(['migrate', 'rollups rebuild'])

/**
 * The commands that change what is at home, or create a project: they work while other shards are away, which get their copies
 * later.
 */
const NEED_HOME: ReadonlySet<keyof typeof ACCESS> = new Set([
  'project create',
  'project update',
  'project rotate-token',
  'key issue',
  'key list',
  'key revoke',
  'key rotate',
  'key retire',
  'goal set',
  'goal list',
  'goal delete',
  'segment set',
  'segment list',
  'segment delete',
  'open',
])

/** What a second run does after the store went away in the first one; absent for a command about which little can be said. */
const SECOND_RUN: Partial<Readonly<Record<keyof typeof ACCESS, string>>> = {
  import: 'it continues',
  migrate: 'it continues',
  'project move': 'it continues',
  'project widen': 'it continues',
  'rollups rebuild': 'it starts with the first month',
}

/**
 * Opens the stores, runs `work` with them and closes them again.
 *
 * @throws what `work` rejects with; a UserError that tells to run the command again if the store went away and that helps
 */
export async function withStore<Result>(
  { config }: CommandContext,
  command: keyof typeof ACCESS,
  work: (opened: OpenedCluster) => Promise<Result>,
): Promise<Result> {
  const purpose = `tallyhouse ${command}`
  let hasBegun = false
  const options = {
    purpose,
    access: ACCESS[command],
    // The store has responded, and is now brought up to date.
    onPhase: () => (hasBegun = true),
    rollups: BUILDERS.has(command) ? ('first' as const) : ('later' as const),
  }
  const read = config()
  const home = read.cluster?.shards[0].name
  const run = async (): Promise<Result> => {
    const opened = await openCluster(read, (shard) => ({
      ...options,
      mayBeAway: home !== undefined && shard !== home && NEED_HOME.has(command),
    }))
    try {
      return await work(opened)
    } finally {
      await opened.close()
    }
  }
  return run().catch((error: unknown) => {
    const secondRun = SECOND_RUN[command]
    if (!hasBegun || secondRun === undefined || !isStoreAway(error)) throw error
    throw new UserError(`${formatError(error)}. Run it again: ${secondRun}.`, { cause: error })
  })
}
