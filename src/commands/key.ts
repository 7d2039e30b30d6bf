/** The commands `tallyhouse key issue | list | revoke`. */
import type { Command } from 'commander'
import { issueKey, listKeys, revokeKey, type StoredKey } from '../auth/api-keys.js'
import { openSigningKey } from '../auth/signing-key.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { parseExpiry } from './shared/options.js'
import { formatJson, formatTable, formatTime } from './shared/output.js'
import { withStore } from './shared/with-store.js'

interface IssueOptions {
  readonly project: string
  readonly name?: string
  readonly expires?: Date
}

interface ListOptions {
  readonly project?: string
  readonly json?: boolean
}

export const addKey: AddCommand = (program, context) => {
  const key = program.command('key').description('Issue, list and revoke API keys')
  addIssue(key, context)
  addList(key, context)
  addRevoke(key, context)
}

function addIssue(key: Command, context: CommandContext): void {
  key
    .command('issue')
    .description('Issue an API key and print it once')
    .requiredOption('--project <id>', 'Project that the key can query')
    .option('--name <name>', 'Display name, such as "dashboard"')
    .option(
      '--expires <when>',
      'When the key expires: days such as 30d, a date (its start in UTC), or an ISO 8601 time (default: never)',
      (text) => parseExpiry(text, context.now()),
    )
    .action(({ project: projectId, name = '', expires }: IssueOptions) =>
      withStore(context, 'key issue', async ({ store }) => {
        const signingKey = await openSigningKey(context.config().dataDir)
        const request = { projectId, name, expiresAt: expires ?? null }
        const { token } = await issueKey(store, signingKey, request, context.now())
        context.print(token)
      }),
    )
}

function addList(key: Command, context: CommandContext): void {
  key
    .command('list')
    .description('List API keys with their states and names, but not the keys themselves')
    .option('--project <id>', 'List only the keys of this project')
    .option('--json', 'Print JSON')
    .action((options: ListOptions) =>
      withStore(context, 'key list', async ({ store }) => {
        const keys = await listKeys(store.reader, options.project)
        context.print(options.json === true ? formatJson(keys) : formatKeys(keys, context.now()))
      }),
    )
}

function addRevoke(key: Command, context: CommandContext): void {
  key
    .command('revoke')
    .description('Revoke an API key permanently; services stop accepting it within 5 seconds')
    .argument('<id>', 'Id of the key, as "key list" shows it')
    .action((id: string) =>
      withStore(context, 'key revoke', async ({ store }) => {
        const { projectId } = await revokeKey(store, id, context.now())
        context.print(`revoked ${id} of project ${projectId}`)
      }),
    )
}

function formatKeys(keys: readonly StoredKey[], now: Date): string {
  const rows = keys.map((key) => [
    key.id,
    key.projectId,
    describeState(key, now),
    formatTime(key.createdAt),
    formatTime(key.expiresAt),
    key.name,
  ])
  return formatTable([['ID', 'PROJECT', 'STATE', 'CREATED', 'EXPIRES', 'NAME'], ...rows])
}

function describeState({ revokedAt, expiresAt }: StoredKey, now: Date): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid'
}
