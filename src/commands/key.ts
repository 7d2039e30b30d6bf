/** The commands `tallyhouse key issue | list | revoke`. */
import { issueKey, listKeys, revokeKey, type StoredKey } from '../auth/api-keys.js'
import { openSigningKey } from '../auth/signing-key.js'
import { withStore, type AddCommand } from './shared/context.js'
import { expiry } from './shared/options.js'
import { json, moment, table } from './shared/output.js'

interface IssueOptions {
  readonly project: string
  readonly name: string
  readonly expires?: Date
}

interface ListOptions {
  readonly project?: string
  readonly json?: boolean
}

const PURPOSE = 'tallyhouse key'

export const addKey: AddCommand = (program, context) => {
  const key = program.command('key').description('issue, list and revoke API keys')

  key
    .command('issue')
    .description('make an API key and print it, this once')
    .requiredOption('--project <id>', 'the project that it reads')
    .option('--name <name>', 'what it is for', '')
    .option(
      '--expires <when>',
      'such as 30d, or a date (its start, in UTC); never by default',
      (text) => expiry(text, context.now()),
    )
    .action(({ project: projectId, name, expires }: IssueOptions) =>
      withStore(context, PURPOSE, async ({ store }) => {
        const signingKey = await openSigningKey(context.config().dataDir)
        const request = { projectId, name, expiresAt: expires ?? null }
        const { token } = await issueKey(store, signingKey, request, context.now())
        context.print(token)
      }),
    )

  key
    .command('list')
    .description('list the keys, without the keys themselves')
    .option('--project <id>', 'of this project alone')
    .option('--json', 'print JSON')
    .action((options: ListOptions) =>
      withStore(context, PURPOSE, async ({ store }) => {
        const keys = await listKeys(store.reader, options.project)
        context.print(options.json === true ? json(keys) : keyTable(keys, context.now()))
      }),
    )

  key
    .command('revoke')
    .description('end a key for good, within 5 seconds')
    .argument('<id>', 'as key list shows it')
    .action((id: string) =>
      withStore(context, PURPOSE, async ({ store }) => {
        const { projectId } = await revokeKey(store, id, context.now())
        context.print(`revoked ${id} of project ${projectId}`)
      }),
    )
}

function keyTable(keys: readonly StoredKey[], now: Date): string {
  const lines = keys.map((key) => [
    key.id,
    key.projectId,
    stateOf(key, now),
    moment(key.createdAt),
    moment(key.expiresAt),
    key.name,
  ])
  return table([['ID', 'PROJECT', 'STATE', 'CREATED', 'EXPIRES', 'NAME'], ...lines])
}

function stateOf({ revokedAt, expiresAt }: StoredKey, now: Date): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid'
}
