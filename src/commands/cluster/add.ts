/** The command `tallyhouse cluster add`: adds a server to the file of the cluster. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { connect } from '../../clickhouse/connection.js'
import { addShard, type NewShard } from '../../config/edit-cluster-file.js'
import type { ConfiguredCluster } from '../../config/stores.js'
import { UserError } from '../../lib/errors.js'
import { listProjects } from '../../projects/store.js'
import type { AddCommand } from '../shared/context.js'
import { checkNewServer, requireGroups } from './check-new-server.js'
import { describeFailure } from './examine-shard.js'
import { requireCluster } from './require-cluster.js'

interface AddOptions {
  readonly url: string
  readonly native: string
  readonly secure?: true
}

export const addClusterAdd: AddCommand = (cluster, context) => {
  cluster
    .command('add')
    .description('Add an empty server to the end of the file that CLUSTER names')
    .argument('<name>', 'Name of the shard')
    .requiredOption('--url <url>', 'Where the service reaches it: http(s)://host:port')
    .requiredOption('--native <address>', 'Where the other servers reach it: host:port')
    .option('--secure', 'The servers talk to it over TLS')
    .action(async (name: string, options: AddOptions) => {
      const configured = requireCluster(context.config())
      const { text, file } = await editFile(configured, { name, ...options })
      const [home] = configured.shards
      const added = file.shards.at(-1)
      const url = added?.replicas === undefined ? (added?.url ?? '') : ''
      const others = configured.shards.map(({ endpoint }) => endpoint)
      const warnings = await checkNewServer({ ...home.endpoint, url, replicas: undefined }, others)
      requireGroups(
        await readProjects(configured),
        file.shards.map((shard) => shard.name),
      )
      await replaceFile(configured.file, text)
      for (const warning of warnings) context.note(`warning: ${warning}`)
      context.print(describeNextSteps(name, configured.file))
    })
}

const editFile = async (
  { file }: ConfiguredCluster,
  { name, url, native, secure }: NewShard,
): Promise<ReturnType<typeof addShard>> =>
  addShard(await readFile(file, 'utf8'), { name, url, native, ...(secure && { secure }) })

async function readProjects({
  shards: [home],
}: ConfiguredCluster): Promise<Awaited<ReturnType<typeof listProjects>>> {
  const connection = connect(home.endpoint, 'reader')
  try {
    return await listProjects(connection)
  } catch (error) {
    throw new UserError(`${home.name}, the home, does not answer: ${describeFailure(error)}`)
  } finally {
    await connection.close()
  }
}

/** A process that reads the file meanwhile finds it whole: the former one or the new one. */
async function replaceFile(file: string, text: string): Promise<void> {
  const whole = `${file}.new`
  try {
    await writeFile(whole, text)
    await rename(whole, file)
  } catch (error) {
    throw new UserError(`${file} cannot be written: ${describeFailure(error)}`)
  }
}

const describeNextSteps = (name: string, file: string): string =>
  `${name} is in ${file}. Nothing is stored there yet. What to do next:

1. tallyhouse cluster config       and put its files on every server; ClickHouse reads them without a restart
2. tallyhouse migrate              creates the tables of ${name}
3. copy ${file} to every host of the service, and restart the services
4. tallyhouse cluster status       shows whether all shards know and reach each other

New projects then go to the emptiest shards.`
