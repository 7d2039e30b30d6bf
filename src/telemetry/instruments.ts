/** All instruments of a process, and their values as text. Nothing is global: every service and test has its own. */
import { Registry } from 'prom-client'
import { createHttpInstruments, type HttpInstruments } from './http-instruments.js'
import { createLoadInstruments, type LoadInstruments } from './load-instruments.js'
import { createProcessInstruments, type ProcessOptions } from './process-instruments.js'
import { createStoreInstruments, type StoreInstruments } from './store-instruments.js'

export interface Instruments {
  readonly http: HttpInstruments
  readonly store: StoreInstruments
  readonly load: LoadInstruments
  /** The media type of the text. */
  readonly contentType: string
  /** Writes the current values in Prometheus' text format. Asks nothing of the store. */
  readonly write: () => Promise<string>
  /** Ends what is measured all the time. */
  readonly close: () => void
}

/** Creates instruments whose values are 0. */
export function createInstruments(options: ProcessOptions): Instruments {
  const registry = new Registry()
  return {
    http: createHttpInstruments(registry),
    store: createStoreInstruments(registry),
    load: createLoadInstruments(registry),
    contentType: registry.contentType,
    write: () => registry.metrics(),
    close: createProcessInstruments(registry, options),
  }
}
