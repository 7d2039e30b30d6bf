/** Listens from the beginning of a process: answers probes while the service starts, then serves its application. */
import type { Express } from 'express'
import { ApiError } from '../../contract/errors.js'
import type { Config } from '../../config/config.js'
import { handleError } from '../../http/server/error-response.js'
import { createShutdown, type Shutdown } from '../../http/server/graceful-shutdown.js'
import { getLivez } from '../../http/server/health.js'
import { listen } from '../../http/server/listen.js'
import { addRoutes, type Handler } from '../../http/server/routes.js'
import type { Logger } from '../../lib/log.js'
import type { Instruments } from '../../telemetry/instruments.js'
import { createShell } from './app-shell.js'

interface EarlyServerOptions {
  readonly config: Config
  readonly logger: Logger
  readonly instruments?: Instruments | undefined
}

export interface EarlyServer {
  /** The URL of the server, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  /** The progress of its shutdown, which the application follows. */
  readonly shutdown: Shutdown
  /** Sets what /readyz gives as the reason: half a sentence about the service, such as `it waits for ClickHouse`. */
  setPhase(phase: string): void
  /** Hands all further requests to the application. */
  handOver(app: Express): void
  /** Finishes pending requests, then stops listening; takes at most 6 seconds. Further calls wait for the first. */
  stop(): Promise<void>
}

/**
 * Listens. Until the application takes over, the process is alive and not ready, and any other request gets
 * SERVICE_UNAVAILABLE.
 *
 * @throws the system's error if the address cannot be bound
 */
export async function listenEarly(options: EarlyServerOptions): Promise<EarlyServer> {
  const { config, logger, instruments } = options
  const { shutdown, steps } = createShutdown()
  let phase = 'it is starting'
  const server = await listen(
    createStartingApp(options, shutdown, () => phase),
    {
      host: config.host,
      port: config.port,
      logger,
      ...(instruments === undefined
        ? {}
        : { onMalformedRequest: instruments.http.onMalformedRequest }),
    },
  )
  let stopped: Promise<void> | undefined
  return {
    address: server.address,
    shutdown,
    setPhase: (next) => {
      phase = next
    },
    handOver: server.replaceApp,
    stop: () => (stopped ??= server.stop(steps)),
  }
}

function createStartingApp(
  { config, logger, instruments }: EarlyServerOptions,
  shutdown: Shutdown,
  getPhase: () => string,
): Express {
  const app = createShell({
    collector: config.role === 'api' ? undefined : config,
    trustedProxies: config.trustedProxies,
    logger,
    observer: instruments?.http,
    shutdown,
  })
  const rejectProbe: Handler = () => {
    throw new ApiError('SERVICE_UNAVAILABLE', `The service is not ready: ${getPhase()}.`)
  }
  const rejectRequest: Handler = () => {
    throw new ApiError('SERVICE_UNAVAILABLE', 'The service is starting. Try again in a moment.')
  }
  addRoutes(app, { '/livez': { get: [getLivez] }, '/readyz': { get: [rejectProbe] } })
  app.use(rejectRequest, handleError)
  return app
}
