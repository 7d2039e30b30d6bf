/** Work that an operator starts while replicas are killed: rebuilds, deletions, expirations. What was interrupted is begun again. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql, string } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { DAY_MS } from '../../../src/lib/time.js'
import { select } from '../store/facts.js'
import type { Services } from './services.js'

export interface Work {
  /** Starts the nth work, after that which was started before: until it is done, however often it fails. */
  readonly begin: (n: number) => void
  /** Resolves once all is done. */
  readonly finish: () => Promise<void>
  /** Returns what is stored and should not be, or the reverse. */
  readonly compare: (store: Store) => Promise<readonly string[]>
}

/** The project whose users are deleted and whose days expire. The senders' events are in another one. */
const PROJECT = 'worked'
/** It has an event of each user on each of the last days. */
const DAYS = 70
const USERS = 40

/** Creates the project and its events. */
export async function startWork(services: Services, now = new Date()): Promise<Work> {
  const deleted = new Set<string>()
  let keepDays = DAYS
  let last = Promise.resolve()
  await services.succeed(
    ...['project', 'create', '--id', PROJECT, '--name', PROJECT, '--domain', 'w.example'],
  )
  const file = path.join(services.env['DATA_DIR']!, 'worked.ndjson')
  await writeFile(
    file,
    listEvents(now)
      .map((one) => JSON.stringify(one))
      .join('\n'),
  )
  await services.succeed('import', '--project', PROJECT, file)
  const kinds: readonly (() => readonly string[])[] = [
    () => ['rollups', 'rebuild'],
    () => {
      const user = `user-${deleted.size}`
      deleted.add(user)
      return ['user', 'delete', '--project', PROJECT, '--yes', user]
    },
    () => {
      keepDays -= 1
      return ['project', 'update', PROJECT, '--keep-days', String(keepDays), '--force']
    },
  ]
  return {
    begin: (n) => {
      const kind = kinds[n % kinds.length]!
      last = last.then(async () => {
        const args = kind()
        for (let code = 1; code !== 0;) code = (await services.run(...args)).code
      })
    },
    finish: () => last,
    compare: async (store) => {
      const found = await select<{ mark: string; times: number }>(
        store,
        sql`SELECT properties['mark'] AS mark, toUInt32(count()) AS times FROM events WHERE project_id = ${string(PROJECT)} GROUP BY mark`,
      )
      const times = new Map(found.map((one) => [one.mark, one.times]))
      const first = Math.floor(now.getTime() / DAY_MS) - keepDays
      return listEvents(now).flatMap(({ user_id, timestamp, properties: { mark } }) => {
        const isKept = !deleted.has(user_id) && Math.floor(Date.parse(timestamp) / DAY_MS) >= first
        const is = times.get(mark) ?? 0
        return is === (isKept ? 1 : 0) ? [] : [`${mark} of ${timestamp} is there ${is} times`]
      })
    },
  }
}

interface WorkedEvent {
  readonly timestamp: string
  readonly user_id: string
  readonly path: string
  readonly properties: { readonly mark: string }
}

const listEvents = (now: Date): readonly WorkedEvent[] =>
  Array.from({ length: DAYS * USERS }, (_, n) => ({
    timestamp: new Date(
      now.getTime() - Math.floor(n / USERS) * DAY_MS - (n % 7) * 60_000,
    ).toISOString(),
    user_id: `user-${n % USERS}`,
    path: `/${n % 9}`,
    properties: { mark: `w${n}` },
  }))
