/** Runs a ZooKeeper, which replicas agree through: that of Debian, whose packages are `zookeeper` and `default-jre-headless`. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { choosePorts } from '../../../src/clickhouse/embedded/new-endpoint.js'
import { until } from '../until.js'

const JAVA = '/usr/bin/java'
const JARS = '/usr/share/java'
const NEEDED =
  /^(zookeeper|zookeeper-jute|slf4j-api|slf4j-nop|snappy-java|metrics-core|commons-io|netty-[a-z-]+)\.jar$/

/** Returns why no ZooKeeper can run here; undefined if one can. */
export function findMissingZooKeeper(): string | undefined {
  const missing = [JAVA, `${JARS}/zookeeper.jar`].find((file) => !existsSync(file))
  return missing === undefined
    ? undefined
    : `${missing} is missing (apt: zookeeper, default-jre-headless)`
}

export interface ZooKeeper {
  readonly port: number
  /** Ends it as a crash does. What it has confirmed stays. */
  kill(): Promise<void>
  /** Starts it after `kill`. */
  start(): Promise<void>
}

/** Runs a command until this process ends its input or dies, and kills it then. */
const UNTIL_INPUT_ENDS = '"$@" & read _; kill -9 $!; wait'

/** Starts a ZooKeeper whose data lie in a folder. */
export async function startZooKeeper(folder: string): Promise<ZooKeeper> {
  const [port = 0] = await choosePorts(1)
  const jars = (await readdir(JARS)).filter((name) => NEEDED.test(name))
  const classPath = jars.map((name) => path.join(JARS, name)).join(':')
  await mkdir(path.join(folder, 'data'), { recursive: true })
  await writeFile(
    path.join(folder, 'zoo.cfg'),
    `dataDir=${path.join(folder, 'data')}
clientPort=${port}
clientPortAddress=127.0.0.1
tickTime=500
admin.enableServer=false
maxClientCnxns=0
`,
  )
  let child: ChildProcess | undefined
  const keeper: ZooKeeper = {
    port,
    async kill() {
      const running = child
      if (running === undefined) return
      child = undefined
      const ended = new Promise((resolve) => running.once('exit', resolve))
      running.stdin!.end()
      await ended
    },
    async start() {
      const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain'
      const options = ['-Xmx256m', '-XX:+UseSerialGC', '-cp', classPath, main, 'zoo.cfg']
      child = spawn('/bin/sh', ['-c', UNTIL_INPUT_ENDS, 'sh', JAVA, ...options], {
        cwd: folder,
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      await until(() => serves(port))
    },
  }
  await keeper.start()
  return keeper
}

/** A ZooKeeper that does not answer is asked again. */
const ANSWER_MS = 500

/** Returns whether the ZooKeeper at a port serves requests. While it starts, it accepts connections, and closes them or does not answer. */
const serves = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write('srvr'))
    socket.setTimeout(ANSWER_MS, () => socket.destroy())
    socket.on('data', (part) => (text += part.toString()))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(text.includes('Mode:')))
  })
