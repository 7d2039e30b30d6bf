/** The command `tallyhouse cluster config`: what the servers of a cluster must know of each other. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CLUSTER_GRANTS } from '../../clickhouse/embedded/users.js'
import { buildServerFiles, type QueryAccount, type ServerFile } from '../../cluster/server-files.js'
import type { ConfiguredCluster } from '../../config/stores.js'
import type { AddCommand } from '../shared/context.js'
import { requireCluster } from './require-cluster.js'

/** Where a ClickHouse server has its configuration. */
const SERVER_FOLDER = '/etc/clickhouse-server'

export const addClusterConfig: AddCommand = (cluster, context) => {
  cluster
    .command('config')
    .description('Print the configuration by which the servers of CLUSTER know each other')
    .option('--out <folder>', 'Write the files below this folder instead')
    .action(async ({ out }: { readonly out?: string }) => {
      const configured = requireCluster(context.config())
      const account = findQueryAccount(configured)
      const files = buildServerFiles(
        configured.shards.flatMap(({ name, native }) =>
          native === undefined ? [] : [{ name, ...native }],
        ),
        account,
      )
      if (out !== undefined) await writeFiles(out, files)
      else if (files.length > 0) context.print(formatFiles(files))
      context.note(describeNextSteps(files, account))
    })
}

/** The servers ask each other with the account for queries; without one of its own, with the account for everything. */
function findQueryAccount({ shards: [home] }: ConfiguredCluster): QueryAccount {
  const { admin, reader } = home.endpoint.accounts
  const isAdmin = reader.username === admin.username
  return {
    username: reader.username,
    passwordVariable: isAdmin ? 'CLICKHOUSE_PASSWORD' : 'CLICKHOUSE_READER_PASSWORD',
  }
}

const formatFiles = (files: readonly ServerFile[]): string =>
  files.map((file) => `<!-- ${SERVER_FOLDER}/${file.path} -->\n${file.text}`).join('\n')

async function writeFiles(folder: string, files: readonly ServerFile[]): Promise<void> {
  for (const file of files) {
    const target = path.join(folder, file.path)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, file.text)
  }
}

const describeNextSteps = (
  files: readonly ServerFile[],
  { username, passwordVariable }: QueryAccount,
): string =>
  files.length === 0
    ? 'A single server needs no further configuration.'
    : [
        `Put these files into ${SERVER_FOLDER} on every server, and ${passwordVariable} into its environment.`,
        `If ${username} is not an account of users.xml, leave the second file out and run on every server:`,
        ...CLUSTER_GRANTS.map((grant) => `  GRANT ${grant} TO ${username}`),
      ].join('\n')
