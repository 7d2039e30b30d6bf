/** Errors that any room may throw or must recognise. */
import { types } from 'node:util'

/** An error whose message says all there is to say; the log leaves its stack out. */
export abstract class ExpectedError extends Error {}

/** A request of the command line that cannot be met. The message is one line without secrets, and a person can act on it. */
export class UserError extends ExpectedError {
  override readonly name = 'UserError'
}

/**
 * Whether `error` is an error of the operating system with this code, such as `ENOENT`. Jest runs tests in
 * a realm of their own, where `instanceof Error` misses errors of Node itself.
 */
export const isSystemError = (error: unknown, code: string): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === code
