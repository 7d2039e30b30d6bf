/** Measures how much the materialized views of the rollups slow down loading. */
import type { Store } from '../../src/clickhouse/store.js'
import { dropLiveViews } from '../../src/rollups/materialized-views.js'
import { printTable, summarize, measureMs, formatWhole } from './figures.js'
import { PROJECT, withFreshStore } from './fresh-store.js'
import { ARRIVAL, createChunks, createFullEvent, streamChunks } from './loading.js'
import { importEvents } from '../../test/support/store/loading.js'

const EVENTS = 1_000_000
const WARM_UP = 20_000
/** Measurements of each, taken in turn. */
const TIMES = 3

/** Prints how fast a file is loaded with the views and without them, each time into an empty store. */
export async function printLoadRates(): Promise<void> {
  const events = createChunks({ name: 'events', events: EVENTS, make: createFullEvent })
  const warmUp = createChunks({
    name: 'warm-up',
    events: WARM_UP,
    make: (n) => createFullEvent(EVENTS + n),
  })
  const times = { with: [] as number[], without: [] as number[] }
  for (let i = 0; i < TIMES; i++) {
    for (const views of ['with', 'without'] as const) {
      const time = await withFreshStore(async (store) => {
        if (views === 'without') await dropLiveViews(store.admin)
        await load(store, warmUp)
        return measureMs(() => load(store, events))
      })
      times[views].push(time)
    }
  }
  const rate = (of: readonly number[]): number => EVENTS / (summarize(of).median / 1_000)
  printTable(
    ['loading 1,000,000 events', 'events/s'],
    [
      ['with the views', formatWhole(rate(times.with))],
      ['without them', formatWhole(rate(times.without))],
      ['ratio', (rate(times.with) / rate(times.without)).toFixed(2)],
    ],
  )
}

async function load(store: Store, chunks: readonly Buffer[]): Promise<void> {
  await importEvents(store, streamChunks(chunks), {
    now: ARRIVAL,
    projectId: PROJECT,
    onRejected: (rows) => {
      throw new Error(rows[0]?.reason)
    },
  })
}
