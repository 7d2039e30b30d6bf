/** Measures what the views that fill the rollups cost a load. */
import type { Store } from '../../src/clickhouse/store.js'
import { dropViews } from '../../src/rollups/materialized-views.js'
import { LIVE } from '../../src/model/rollup-tables.js'
import { printTable, summaryOf, timed, whole } from './figures.js'
import { PROJECT, withFreshStore } from './fresh-store.js'
import { ARRIVAL, chunksOf, explicit, stream } from './loading.js'
import { importEvents } from '../../test/support/store/loading.js'

const EVENTS = 1_000_000
const WARM_UP = 20_000
/** How often each is measured, in turn. */
const TIMES = 3

/** Prints how fast a file is loaded with the views and without, each time into a store of its own. */
export async function printLoadRates(): Promise<void> {
  const events = chunksOf({ name: 'events', events: EVENTS, make: explicit })
  const warmUp = chunksOf({ name: 'warm-up', events: WARM_UP, make: (n) => explicit(EVENTS + n) })
  const times = { with: [] as number[], without: [] as number[] }
  for (let i = 0; i < TIMES; i++) {
    for (const views of ['with', 'without'] as const) {
      const time = await withFreshStore(async (store) => {
        if (views === 'without') await dropViews(store.admin, LIVE)
        await load(store, warmUp)
        return timed(() => load(store, events))
      })
      times[views].push(time)
    }
  }
  const rate = (of: readonly number[]): number => EVENTS / (summaryOf(of).median / 1_000)
  printTable(
    ['loading 1,000,000 events', 'events/s'],
    [
      ['with the views', whole(rate(times.with))],
      ['without them', whole(rate(times.without))],
      ['ratio', (rate(times.with) / rate(times.without)).toFixed(2)],
    ],
  )
}

async function load(store: Store, chunks: readonly Buffer[]): Promise<void> {
  await importEvents(store, stream(chunks), {
    now: ARRIVAL,
    projectId: PROJECT,
    onRejected: (rows) => {
      throw new Error(rows[0]?.reason)
    },
  })
}
