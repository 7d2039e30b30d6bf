/** Creates the log: JSON lines without secrets. */
import { pino, type DestinationStream, type Logger, type LevelWithSilent } from 'pino'
import { ExpectedError } from './errors.js'
export type { Logger } from 'pino'

/** The fields that are removed from every line. A second line of defense: no code logs them on purpose. */
const SECRETS = ['authorization', 'cookie', 'password', 'headers', 'apiKey', 'token']

const NOWHERE: DestinationStream = { write: () => undefined }

/**
 * Creates a logger.
 *
 * @param destination where the lines go; may be left out only for a logger that is silent
 */
export function createLogger(level: 'silent'): Logger
export function createLogger(level: LevelWithSilent, destination: DestinationStream): Logger
export function createLogger(
  level: LevelWithSilent,
  destination: DestinationStream = NOWHERE,
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

/** How many causes of an error are logged, each the cause of the one before. */
const MAX_CAUSES = 3

/** The fields of an error in the log. */
interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: string | number
  readonly stack?: string
  readonly cause?: ErrorDescription
}

/** Describes an error by a closed set of fields, because libraries attach requests and credentials to their errors. */
function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && isCode(error.code) ? { code: error.code } : {}),
    // The message and the code of an expected error are enough; its stack adds nothing.
    ...(error.stack === undefined || error instanceof ExpectedError ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === MAX_CAUSES
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  }
}

const isCode = (code: unknown): code is string | number =>
  typeof code === 'string' || typeof code === 'number'
