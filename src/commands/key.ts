/** The commands `tallyhouse key issue | list | revoke | rotate | retire`. */
import { InvalidArgumentError, type Command } from 'commander'
import { isAdminKeyId, issueAdminKey, listAdminKeys, revokeAdminKey } from '../auth/admin-keys.js'
import { listKeys } from '../auth/api-keys.js'
import type { OpenedCluster } from '../bootstrap/open-cluster.js'
import { ADMIN_SCOPES, type AdminScope } from '../contract/admin-scopes.js'
import type { Scope } from '../contract/scopes.js'
import { listPublicKeys } from '../auth/public-keys.js'
import {
  openSigningKey,
  readSigningKeyId,
  retireSigningKey,
  rotateSigningKey,
} from '../auth/signing-key.js'
import { issueKey, revokeKey } from '../management/keys.js'
import { formatAdminKeys, formatKeys, formatSigningKeys, toSigningKeyRows } from './key-output.js'
import { getManagement, type AddCommand, type CommandContext } from './shared/context.js'
import { parseAdminScopes, parseExpiry, parseScopes, WHEN_HELP } from './shared/options.js'
import { formatJson, formatTime } from './shared/output.js'
import { withStore } from './shared/with-store.js'

interface IssueOptions {
  readonly project?: string
  readonly admin?: boolean
  readonly org?: string
  readonly name?: string
  readonly scope?: string
  readonly expires?: Date
}

interface ListOptions {
  readonly project?: string
  readonly signing?: boolean
  readonly admin?: boolean
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
    .description('Issue an API key of a project, or an admin key, and print it once')
    .option('--project <id>', 'Project that the key is for')
    .option('--admin', 'Issue an admin key, which manages projects over HTTP')
    .option('--org <name>', 'With --admin: the organization whose projects the key sees alone')
    .option('--name <name>', 'Display name, such as "dashboard"')
    .option(
      '--scope <list>',
      `What the key may do: read, export, or both as read,export (default: read); with --admin some of ${ADMIN_SCOPES.join(',')} (default: all)`,
    )
    .option('--expires <when>', `When the key expires: ${WHEN_HELP} (default: never)`, (text) =>
      parseExpiry(text, context.now()),
    )
    .action((options: IssueOptions, command: Command) => {
      const { project, admin = false, org } = options
      if (admin === (project !== undefined)) {
        command.error('error: give either --project <id> or --admin')
      }
      if (org !== undefined && !admin) command.error("error: option '--org <name>' needs --admin")
      if (project === undefined) {
        const scopes = readScopes(command, options, parseAdminScopes)
        return withStore(context, 'key issue', (opened) =>
          issueForAdmin(context, opened, options, scopes),
        )
      }
      const scopes = readScopes(command, options, parseScopes)
      return withStore(context, 'key issue', (opened) =>
        issueForProject(context, opened, project, options, scopes),
      )
    })
}

/** Parses `--scope`, whose values depend on the kind of the key. Ends the command if they are wrong. */
function readScopes<Parsed>(
  command: Command,
  { scope }: IssueOptions,
  parse: (text: string) => readonly Parsed[],
): { readonly scopes?: readonly Parsed[] } {
  if (scope === undefined) return {}
  try {
    return { scopes: parse(scope) }
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    return command.error(
      `error: option '--scope <list>' argument '${scope}' is invalid. ${error.message}`,
    )
  }
}

async function issueForProject(
  context: CommandContext,
  { store, cluster }: OpenedCluster,
  projectId: string,
  { name = '', expires }: IssueOptions,
  scopes: { readonly scopes?: readonly Scope[] },
): Promise<void> {
  const places = { store, dataDir: context.config().dataDir }
  const signingKey = await openSigningKey(places, context.now())
  const request = { projectId, name, ...scopes, expiresAt: expires ?? null }
  const { token } = await issueKey(getManagement(context, cluster), signingKey, request)
  context.print(token)
}

async function issueForAdmin(
  context: CommandContext,
  { store }: OpenedCluster,
  { name = '', org, expires }: IssueOptions,
  scopes: { readonly scopes?: readonly AdminScope[] },
): Promise<void> {
  const request = { name, ...scopes, org: org ?? null, expiresAt: expires ?? null }
  const { secret } = await issueAdminKey(store, request, context.now())
  context.print(secret)
}

function addList(key: Command, context: CommandContext): void {
  key
    .command('list')
    .description('List API keys with their states and names, but not the keys themselves')
    .option('--project <id>', 'List only the keys of this project')
    .option('--admin', 'List the admin keys instead, with their last use')
    .option('--signing', 'List the signing keys instead, and how many API keys each has signed')
    .option('--json', 'Print JSON')
    .action(
      (
        { project, signing = false, admin = false, json = false }: ListOptions,
        command: Command,
      ) => {
        if (signing && project !== undefined) {
          command.error("error: option '--signing' cannot be used with option '--project <id>'")
        }
        if (admin && (signing || project !== undefined)) {
          command.error("error: option '--admin' cannot be used with --signing or --project")
        }
        return withStore(context, 'key list', async ({ store: { reader, writer } }) => {
          if (admin) {
            const adminKeys = await listAdminKeys(writer)
            context.print(json ? formatJson(adminKeys) : formatAdminKeys(adminKeys, context.now()))
            return
          }
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
      },
    )
}

function addRevoke(key: Command, context: CommandContext): void {
  key
    .command('revoke')
    .description(
      'Revoke an API key or an admin key permanently; services stop accepting it within 5 seconds',
    )
    .argument('<id>', 'Id of the key, as "key list" shows it')
    .action((id: string) =>
      withStore(context, 'key revoke', async ({ store, cluster }) => {
        if (isAdminKeyId(id)) {
          await revokeAdminKey(store, id, context.now())
          context.print(`revoked ${id}`)
          return
        }
        const { projectId } = await revokeKey(getManagement(context, cluster), id)
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
