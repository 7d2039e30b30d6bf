/** A process that runs a task and suspends itself at a statement. The test resumes it with SIGCONT. */
import { writeSync } from 'node:fs'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { SUSPENDED, TASKS, type SuspendedTask, type TaskEnd } from './tasks.js'

const { endpoint, task, at, afterMs } = JSON.parse(process.argv[2] ?? '') as SuspendedTask
const store = connectStore(endpoint)
let statements = 0

function suspend(): void {
  writeSync(1, SUSPENDED)
  process.kill(process.pid, 'SIGSTOP')
}

function suspending(connection: Connection): Connection {
  const count = async <T>(work: () => Promise<T>): Promise<T> => {
    const isNow = ++statements === at
    if (isNow && afterMs === undefined) suspend()
    const result = work()
    if (isNow && afterMs !== undefined) setTimeout(suspend, afterMs).unref()
    return result
  }
  return {
    ...connection,
    query: (one, options) => count(() => connection.query(one, options)),
    execute: (one, settings, signal) => count(() => connection.execute(one, settings, signal)),
    upload: (one, ...rest) => count(() => connection.upload(one, ...rest)),
  }
}

const { admin, writer } = store
const error = await TASKS[task]
  .run({ ...store, admin: suspending(admin), writer: suspending(writer) })
  .then(
    () => undefined,
    (thrown: unknown) => String(thrown),
  )
await store.close()
const end: TaskEnd = { statements, error }
writeSync(1, JSON.stringify(end))
