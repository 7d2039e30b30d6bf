/** The command `tallyhouse open`. */
import { InvalidArgumentError } from 'commander'
import { issueKey } from '../auth/api-keys.js'
import { openSigningKey } from '../auth/signing-key.js'
import { addMs, HOUR_MS } from '../lib/time.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { findAddress, formatExplorerLink } from './shared/explorer-link.js'
import { formatTime } from './shared/output.js'
import { withStore } from './shared/with-store.js'

interface OpenOptions {
  readonly project: string
  readonly address?: string
}

/** Long enough for a look; a link that somebody finds later opens nothing. */
const KEY_MS = HOUR_MS

/** What the command does not do itself: as an argument of a browser, the key would stand in the list of processes. */
const HELP = `
Only the link goes to standard output. Issue a key that lasts longer with "tallyhouse key issue", and paste it at /explore.`

export const addOpen: AddCommand = (program, context) => {
  program
    .command('open')
    .description('Print a link that opens the explorer, with a new API key of one hour')
    .requiredOption('--project <id>', 'Project to look at')
    .option(
      '--address <url>',
      'Address of the service, such as https://stats.example (default: that of HOST and PORT)',
      parseAddress,
    )
    .addHelpText('after', HELP)
    .action((options: OpenOptions) => printLink(context, options))
}

async function printLink(
  context: CommandContext,
  { project: projectId, address = findAddress(context.config()) }: OpenOptions,
): Promise<void> {
  await withStore(context, 'open', async ({ store }) => {
    const now = context.now()
    const signingKey = await openSigningKey({ store, dataDir: context.config().dataDir }, now)
    const request = { projectId, name: 'explorer', expiresAt: addMs(now, KEY_MS) }
    const { key, token } = await issueKey(store, signingKey, request, now)
    context.print(formatExplorerLink(address, token))
    context.note(
      `the key ${key.id} expires at ${formatTime(key.expiresAt)}; it may query, not export`,
    )
  })
}

/** @throws InvalidArgumentError */
function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The explorer asks the origin that it was loaded from, so a path could not lead anywhere.
  const isOrigin = url !== undefined && ['', '/'].includes(url.href.slice(url.origin.length))
  if (isOrigin && ['http:', 'https:'].includes(url.protocol)) return url.origin
  throw new InvalidArgumentError('Expected a URL without a path, such as https://stats.example.')
}
