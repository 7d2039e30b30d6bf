/** Makes the log: JSON lines, without anything secret. */
import { pino, type DestinationStream, type Logger, type LevelWithSilent } from 'pino'
import { ExpectedError } from './errors.js'

export type { Logger } from 'pino'

/** The second wall: nothing logs these on purpose. */
const SECRETS = ['authorization', 'cookie', 'password', 'headers', 'apiKey', 'token']

/**
 * Makes a logger.
 *
 * @param destination where the lines go; stdout when absent.
 */
export function createLogger(
  level: LevelWithSilent,
  destination: DestinationStream = pino.destination({
    dest: 1,
    sync: false,
    maxLength: MAX_BUFFERED,
  }),
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: {
        paths: SECRETS.flatMap((name) => [name, `*.${name}`]),
        remove: true,
      },
    },
    destination,
  )
}

/** A reader of the log that stops reading costs lines, never the service. */
const MAX_BUFFERED = 4 * 1024 * 1024

/** What the log tells of an error. */
interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: string | number
  readonly stack?: string
  readonly cause?: ErrorDescription
}

/** A closed set of fields: libraries hang requests and credentials on their errors. */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && isCode(error.code) ? { code: error.code } : {}),
    // Where an error of the catalogue was thrown tells nothing that its code does not.
    ...(error.stack === undefined || error instanceof ExpectedError ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === 3
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  }
}

const isCode = (code: unknown): code is string | number =>
  typeof code === 'string' || typeof code === 'number'
