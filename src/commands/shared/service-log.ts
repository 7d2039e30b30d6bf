/** The log of the commands that run the service, on standard output. */
import type { Config } from '../../config/config.js'
import { createLogger, type Logger } from '../../lib/log.js'
import { openLogOutput, type LogOutput } from '../../lib/log-output.js'
import { SECOND_MS } from '../../lib/time.js'

export interface ServiceLog {
  readonly logger: Logger
  readonly output: LogOutput
}

/** How long the process waits at its end for a reader that takes no more lines. */
const FLUSH_TIMEOUT_MS = SECOND_MS

/** Runs `work` with a log. Afterwards waits until its lines are read, and exits if nobody reads them. */
export async function withServiceLog(
  level: Config['logLevel'],
  work: (log: ServiceLog) => Promise<void>,
): Promise<void> {
  const output = openLogOutput(process.stdout)
  try {
    await work({ logger: createLogger(level, output), output })
  } finally {
    // An unread pipe would keep the process alive. The caller sets the exit code before the next turn of the event loop.
    if (!(await output.flush(FLUSH_TIMEOUT_MS))) setImmediate(() => process.exit())
  }
}
