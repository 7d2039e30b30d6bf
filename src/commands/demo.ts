/** The command `tallyhouse demo`. */
import { issueKey } from '../auth/api-keys.js'
import { openSigningKey } from '../auth/signing-key.js'
import { getLoader, type OpenedCluster } from '../bootstrap/open-cluster.js'
import type { OpenedStore } from '../bootstrap/open-store.js'
import { startLiveTraffic } from '../demo/live-traffic.js'
import { DEMO_DAYS, topUpDemo } from '../demo/top-up.js'
import { addDays } from '../lib/time.js'
import type { StoredProject } from '../projects/project.js'
import { formatWelcome } from './demo-output.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { parseCount } from './shared/options.js'
import { withServiceLog, type ServiceLog } from './shared/service-log.js'
import { startStopwatch } from './shared/stopwatch.js'

interface DemoOptions {
  readonly days: number
}

const KEY_DAYS = 30

export const addDemo: AddCommand = (program, context) => {
  program
    .command('demo')
    .description('Create a demo project with generated events, and run the service')
    .option('--days <n>', 'Days of history to generate for a new demo', parseCount, DEMO_DAYS)
    // The terminal is for the welcome text, so only warnings and errors are logged.
    .action((options: DemoOptions) =>
      withServiceLog('warn', (log) => runDemo(context, options, log)),
    )
}

async function runDemo(
  context: CommandContext,
  { days }: DemoOptions,
  log: ServiceLog,
): Promise<void> {
  const config = context.config()
  // Imported here, because they take longer to load than all other commands together.
  const { runService } = await import('../bootstrap/run-service.js')
  const { createDemoRouter } = await import('../http/site/demo-page.js')
  let loaded: LoadedDemo | undefined
  const getLoaded = (): LoadedDemo => {
    if (loaded === undefined) throw new Error('the demo listens before it has loaded its events')
    return loaded
  }
  await runService({
    config: { ...config, role: 'all' },
    purpose: 'demo',
    ...log,
    now: context.now,
    prepare: async (opened, stop) => {
      const upTo = context.now()
      const project = await loadEvents(context, opened, { days, stop, now: upTo })
      if (stop.aborted) return
      loaded = { project, upTo, apiKey: await issueDemoKey(context, opened, project) }
    },
    pages: () => [createDemoRouter(getLoaded().project.token)],
    onListening: (address) =>
      context.print(formatWelcome({ ...getLoaded(), address, keyDays: KEY_DAYS })),
    startBeside: (opened) => {
      const { project, upTo } = getLoaded()
      return startLiveTraffic(opened.cluster, {
        project,
        since: upTo,
        now: context.now,
        getLoader: (shard) => getLoader(opened, shard),
        onFailure: (error) =>
          log.logger.warn({ err: error }, 'events of the demo could not be loaded; trying again'),
      })
    },
  })
}

/** What is ready before the service starts. */
interface LoadedDemo {
  readonly project: StoredProject
  /** Events up to this moment are loaded. */
  readonly upTo: Date
  readonly apiKey: string
}

/** Loads all events before the service starts, so that its first response includes them. */
async function loadEvents(
  { config, note }: CommandContext,
  opened: OpenedCluster,
  { days, stop, now }: { readonly days: number; readonly stop: AbortSignal; readonly now: Date },
): Promise<StoredProject> {
  note('loading the demo events')
  const stopwatch = startStopwatch()
  const { project, loaded } = await topUpDemo(opened.cluster, {
    getLoader: (shard) => getLoader(opened, shard),
    width: config().defaultWidth,
    now,
    days,
    stop,
    onProgress: (soFar, upTo) =>
      note(`${stopwatch.formatRate(soFar)}, up to ${upTo.toISOString().slice(0, 10)}`),
  })
  if (loaded === 0) note('no new events')
  return project
}

async function issueDemoKey(
  { config, now }: CommandContext,
  { store }: OpenedStore,
  { id }: StoredProject,
): Promise<string> {
  const issuedAt = now()
  const { token } = await issueKey(
    store,
    await openSigningKey({ store, dataDir: config().dataDir }, issuedAt),
    { projectId: id, name: 'demo', expiresAt: addDays(issuedAt, KEY_DAYS) },
    issuedAt,
  )
  return token
}
