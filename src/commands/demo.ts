/** The command `tallyhouse demo`. */
import { issueKey } from '../auth/api-keys.js'
import { openSigningKey } from '../auth/signing-key.js'
import { DEMO } from '../bootstrap/open-store.js'
import type { OpenedStore } from '../bootstrap/open-store.js'
import { DEMO_DAYS, topUpDemo } from '../demo/top-up.js'
import { demoRouter } from '../http/site/demo-page.js'
import { createLogger } from '../lib/log.js'
import type { StoredProject } from '../projects/project.js'
import { requireFreeAddress } from '../bootstrap/address.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { welcome } from './demo-output.js'
import { count } from './shared/options.js'
import { stopwatch } from './shared/progress.js'
import { runService } from '../bootstrap/run-service.js'

interface DemoOptions {
  readonly days: number
}

const KEY_DAYS = 30
const DAY_MS = 86_400_000

export const addDemo: AddCommand = (program, context) => {
  program
    .command('demo')
    .description('fill a project with the life of a made-up shop, and run the service')
    .option('--days <n>', 'days of history that a new demo has', count, DEMO_DAYS)
    .action((options: DemoOptions) => demo(context, options))
}

async function demo(context: CommandContext, { days }: DemoOptions): Promise<void> {
  const config = context.config()
  let shown = { project: '', token: '' }
  let publicToken = ''
  await runService({
    config: { ...config, role: 'all' },
    purpose: DEMO,
    // The terminal is for what people want to know: of the log it gets what goes wrong.
    logger: createLogger('warn'),
    now: context.now,
    prepare: async (opened, stop) => {
      await requireFreeAddress(config)
      const project = await load(context, opened, days, stop)
      if (stop.aborted) return
      publicToken = project.token
      const expiresAt = new Date(context.now().getTime() + KEY_DAYS * DAY_MS)
      const request = { projectId: project.id, name: 'demo', expiresAt }
      const { token } = await issueKey(
        opened.store,
        await openSigningKey(config.dataDir),
        request,
        context.now(),
      )
      shown = { project: `${project.id} (${project.domain})`, token }
    },
    pages: () => [demoRouter(publicToken)],
    onListening: (address) => context.print(welcome({ ...shown, address, keyDays: KEY_DAYS })),
  })
}

/** Loads first, with a line after each piece, so that the service answers of the whole at once. */
async function load(
  { note, now }: CommandContext,
  { store, loader }: OpenedStore,
  days: number,
  stop: AbortSignal,
): Promise<StoredProject> {
  note('loading the events of the demo')
  const watch = stopwatch()
  const { project, loaded } = await topUpDemo(store, {
    loader,
    now: now(),
    days,
    stop,
    onProgress: (soFar, upTo) =>
      note(`${watch.rate(soFar)}, up to ${upTo.toISOString().slice(0, 10)}`),
  })
  if (loaded === 0) note('nothing new')
  return project
}
