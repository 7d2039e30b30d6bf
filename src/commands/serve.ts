/** The command `tallyhouse serve`. */
import type { EngineEvent } from '../clickhouse/embedded/engine.js'
import { openService, SERVE } from '../clickhouse/open.js'
import { createLogger, type Logger } from '../log.js'
import { startService } from '../service.js'
import { UserError } from '../user-error.js'
import type { AddCommand, CommandContext } from './context.js'
import { watchForEnd } from './process-end.js'

export const addServe: AddCommand = (program, context) => {
  program
    .command('serve')
    .description('run the service until it is told to stop')
    .action(() => serve(context))
}

/**
 * Starts the store and the service, and stops both in the opposite order.
 *
 * @throws what keeps it from starting, or made it stop: the process then exits with 1.
 */
async function serve({ config: readConfig, now }: CommandContext): Promise<void> {
  const config = readConfig()
  const logger = createLogger(config.logLevel)
  const end = watchForEnd(logger)
  const opened = await openService(config, SERVE, {
    ownEngine: true,
    onEvent: (event) => logEngine(logger, event),
  })
  try {
    const service = await startService({ config, opened, logger, now }).catch(explain)
    logger.info({ address: service.address }, `listening on ${service.address}`)
    const failure = await Promise.race([end, ...(opened.engine ? [opened.engine.failed] : [])])
    await service.stop()
    if (failure !== undefined) throw failure
  } finally {
    await opened.close()
    logger.info('stopped')
  }
}

/** What the system says of an address that cannot be had, in plain words. */
const ADDRESS_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process',
  EADDRNOTAVAIL: 'is not one of this machine',
  EACCES: 'may not be used by this user',
  ENOTFOUND: 'does not exist',
}

function explain(error: NodeJS.ErrnoException & { address?: string; port?: number }): never {
  const words = error.syscall === undefined ? undefined : ADDRESS_ERRORS[error.code ?? '']
  if (words === undefined) throw error
  throw new UserError(`the address ${error.address ?? 'HOST'}:${error.port ?? 'PORT'} ${words}`)
}

function logEngine(logger: Logger, { kind, ...details }: EngineEvent): void {
  const isTrouble = kind === 'died' || kind === 'restart failed' || kind === 'gave up'
  logger[isTrouble ? 'error' : 'info'](details, `engine ${kind}`)
}
