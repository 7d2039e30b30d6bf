/** All instruments of a process, and their values as text. Nothing is global: every service and test has its own. */
import { Registry } from 'prom-client'
import { createHttpInstruments, type HttpInstruments } from './http-instruments.js'
import { createLoadInstruments, type LoadInstruments } from './load-instruments.js'
import { createShardLabel } from './shard-label.js'
import { createProcessInstruments, type ProcessOptions } from './process-instruments.js'
import { createStoreInstruments, type StoreInstruments } from './store-instruments.js'

export interface Instruments {
  readonly http: HttpInstruments
  /** Returns the instruments of a shard. */
  readonly store: (shard: string) => StoreInstruments
  readonly load: (shard: string) => LoadInstruments
  /** The media type of the text. */
  readonly contentType: string
  /** Writes the current values in Prometheus' text format. Asks nothing of the store. */
  readonly write: () => Promise<string>
  /** Ends what is measured all the time. */
  readonly close: () => void
}

interface InstrumentsOptions extends ProcessOptions {
  /** Whether the service has several stores, which the label `shard` tells apart; false by default. */
  readonly isCluster?: boolean
}

/** Creates instruments whose values are 0. */
export function createInstruments({
  isCluster = false,
  ...options
}: InstrumentsOptions): Instruments {
  const registry = new Registry()
  const label = createShardLabel(isCluster)
  return {
    http: createHttpInstruments(registry),
    store: createStoreInstruments(registry, label),
    load: createLoadInstruments(registry, label),
    contentType: registry.contentType,
    write: () => registry.metrics(),
    close: createProcessInstruments(registry, options),
  }
}
