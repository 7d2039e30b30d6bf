/** The commands `tallyhouse key issue | list | revoke | rotate | retire`. */
import type { Command } from 'commander'
import { issueKey, listKeys, revokeKey } from '../auth/api-keys.js'
import type { Scope } from '../contract/scopes.js'
import { listPublicKeys } from '../auth/public-keys.js'
import {
  openSigningKey,
  readSigningKeyId,
  retireSigningKey,
  rotateSigningKey,
} from '../auth/signing-key.js'
import { formatKeys, formatSigningKeys, toSigningKeyRows } from './key-output.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { parseExpiry, parseScopes, WHEN_HELP } from './shared/options.js'
import { formatJson, formatTime } from './shared/output.js'
import { withStore } from './shared/with-store.js'

interface IssueOptions {
  readonly project: string
  readonly name?: string
  readonly scope?: readonly Scope[]
  readonly expires?: Date
}

interface ListOptions {
  readonly project?: string
  readonly signing?: boolean
  readonly json?: boolean
}

interface RetireOptions {
  readonly at?: Date
}

export const addKey: AddCommand = (program, context) => {
  const key = program
    .command('key')
    .description('Issue, list and revoke API keys, and change the key that signs them')
  addIssue(key, context)
  addList(key, context)
  addRevoke(key, context)
  addRotate(key, context)
  addRetire(key, context)
}

function addIssue(key: Command, context: CommandContext): void {
  key
    .command('issue')
    .description('Issue an API key and print it once')
    .requiredOption('--project <id>', 'Project that the key is for')
    .option('--name <name>', 'Display name, such as "dashboard"')
    .option(
      '--scope <list>',
      'What the key may do: read, export, or both as read,export (default: read)',
      parseScopes,
    )
    .option('--expires <when>', `When the key expires: ${WHEN_HELP} (default: never)`, (text) =>
      parseExpiry(text, context.now()),
    )
    .action(({ project: projectId, name = '', scope, expires }: IssueOptions) =>
      withStore(context, 'key issue', async ({ store }) => {
        const places = { store, dataDir: context.config().dataDir }
        const signingKey = await openSigningKey(places, context.now())
        const scopes = scope === undefined ? {} : { scopes: scope }
        const request = { projectId, name, ...scopes, expiresAt: expires ?? null }
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
    .option('--signing', 'List the signing keys instead, and how many API keys each has signed')
    .option('--json', 'Print JSON')
    .action(({ project, signing = false, json = false }: ListOptions, command: Command) => {
      if (signing && project !== undefined) {
        command.error("error: option '--signing' cannot be used with option '--project <id>'")
      }
      return withStore(context, 'key list', async ({ store: { reader } }) => {
        const keys = await listKeys(reader, project)
        const publicKeys = await listPublicKeys(reader)
        if (signing) {
          const current = await readSigningKeyId(context.config().dataDir)
          const rows = toSigningKeyRows(publicKeys, keys, current)
          context.print(json ? formatJson(rows) : formatSigningKeys(rows, context.now()))
          return
        }
        context.print(json ? formatJson(keys) : formatKeys(keys, publicKeys, context.now()))
      })
    })
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

function addRotate(key: Command, context: CommandContext): void {
  key
    .command('rotate')
    .description('Sign new API keys with a new signing key; API keys that were issued stay valid')
    .action(() =>
      withStore(context, 'key rotate', async ({ store }) => {
        const places = { store, dataDir: context.config().dataDir }
        const { kid, others } = await rotateSigningKey(places, context.now())
        context.print(`new API keys are signed with ${kid}`)
        for (const { jwk } of others) {
          context.note(
            `API keys signed with ${jwk.kid} stay valid until "tallyhouse key retire ${jwk.kid}"`,
          )
        }
      }),
    )
}

function addRetire(key: Command, context: CommandContext): void {
  key
    .command('retire')
    .description(
      'Retire a former signing key; services refuse the API keys that it signed within 10 seconds',
    )
    .argument('<kid>', 'Id of the signing key, as "key list --signing" shows it')
    .option('--at <when>', `When it retires: ${WHEN_HELP} (default: now)`, (text) =>
      parseExpiry(text, context.now()),
    )
    .action((kid: string, { at }: RetireOptions) =>
      withStore(context, 'key retire', async ({ store }) => {
        const places = { store, dataDir: context.config().dataDir }
        const now = context.now()
        const { retiresAt } = await retireSigningKey(places, kid, at ?? now, now)
        context.print(`API keys signed with ${kid} are refused from ${formatTime(retiresAt)} on`)
      }),
    )
}
