/** Kills parts of a running service at random moments, again and again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import type { Random } from '../../../src/demo/random.js'
import { select } from '../store/facts.js'
import type { KilledImports } from './imports.js'
import type { Senders } from './senders.js'
import type { KilledService } from './service.js'
import { until } from '../until.js'

/** The processes that are killed. */
export const VICTIMS = ['engine', 'service', 'both', 'import'] as const
export type Victim = (typeof VICTIMS)[number]

export interface Kill {
  readonly victim: Victim
  /** The event to wait for: none, more events accepted, or another load started. */
  readonly after: 'nothing' | 'accepted' | 'loaded'
  /** Milliseconds from that event to the kill. */
  readonly pause: number
  /** The position of the shard whose engine is killed. */
  readonly shard: number
}

export interface World {
  readonly service: KilledService
  readonly senders: Senders
  readonly imports: KilledImports
}

/** Plans kills of a service with this number of shards. The same seed gives the same plan; the first eight kills hit every victim twice. */
export const planKills = (count: number, random: Random, shards = 1): readonly Kill[] =>
  Array.from({ length: count }, (_, n) => {
    const victim = n < 8 ? VICTIMS[n % VICTIMS.length]! : VICTIMS[random.below(VICTIMS.length)]!
    const after = random.chance(0.2) ? 'nothing' : random.chance(0.5) ? 'accepted' : 'loaded'
    const pause = random.below(after === 'nothing' ? 1_500 : 2_500)
    return { victim, after, pause, shard: n % shards }
  })

/** Carries out a plan; calls `onKill` after each kill. */
export async function killAll(
  { service, senders, imports }: World,
  plan: readonly Kill[],
  onKill: (kill: Kill) => void,
): Promise<void> {
  const waits: Readonly<Record<Kill['after'], () => Promise<unknown>>> = {
    nothing: () => Promise.resolve(),
    accepted: () => waitForAccepted(senders),
    loaded: () => waitForLoad(service),
  }
  const kills: Readonly<Record<Victim, (shard: number) => Promise<boolean> | boolean>> = {
    engine: service.killEngine,
    service: service.killService,
    both: async (shard) => (await service.killEngine(shard)) && service.killService(),
    import: () => {
      // The import that was started before may have finished already.
      imports.begin()
      return imports.kill()
    },
  }
  for (const kill of plan) {
    await waits[kill.after]()
    if (kill.victim === 'import' || kill.pause % 3 === 0) imports.begin()
    await sleep(kill.pause)
    await until(() => kills[kill.victim](kill.shard))
    onKill(kill)
  }
}

export function waitForAccepted(senders: Senders): Promise<number> {
  const before = senders.acknowledged.size
  return until(() => senders.acknowledged.size > before + 20)
}

async function waitForLoad(service: KilledService): Promise<void> {
  let before: number | undefined
  await until(async () => {
    const loads = await service.withCluster(({ home }) => countLoads(home.store))
    before ??= loads
    await sleep(50)
    return loads !== undefined && before !== undefined && loads > before
  })
}

/** Returns the number of the load that was started last. */
async function countLoads(store: Store): Promise<number> {
  const [row] = await select<{ n: number }>(store, sql`SELECT max(load) AS n FROM loads`)
  return row!.n
}
