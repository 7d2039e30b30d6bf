/** Starts the metrics of a service process: its instruments, and the server that shows them. */
import type { Config } from '../config/config.js'
import { listShardNames } from '../config/stores.js'
import { listenForMetrics } from '../http/server/metrics-server.js'
import type { Logger } from '../lib/log.js'
import type { LogOutput } from '../lib/log-output.js'
import { readVersion } from '../lib/version.js'
import { createInstruments, type Instruments } from '../telemetry/instruments.js'
import { rethrowListenError } from './address.js'

export interface Metrics {
  /** Undefined when the process has no metrics: nothing is then measured. */
  readonly instruments: Instruments | undefined
  /** The URL of the metrics. */
  readonly address: string | undefined
  stop(): Promise<void>
}

const NO_METRICS: Metrics = {
  instruments: undefined,
  address: undefined,
  stop: () => Promise.resolve(),
}

interface MetricsOptions {
  readonly config: Config
  readonly logger: Logger
  readonly output: Pick<LogOutput, 'countDropped'>
}

/**
 * Starts the metrics if the configuration asks for them.
 *
 * @throws UserError if the address cannot be bound
 */
export async function startMetrics({ config, logger, output }: MetricsOptions): Promise<Metrics> {
  const { host, metricsPort: port } = config
  if (port === undefined) return NO_METRICS
  const instruments = createInstruments({
    version: readVersion(),
    countDroppedLines: output.countDropped,
    isCluster: listShardNames(config).length > 1,
  })
  const { contentType, write, close } = instruments
  const server = await listenForMetrics({ host, port, contentType, write }).catch(
    rethrowListenError,
  )
  logger.info({ metrics: server.address }, `metrics at ${server.address}`)
  return {
    instruments,
    address: server.address,
    stop: async () => {
      close()
      await server.stop()
    },
  }
}
