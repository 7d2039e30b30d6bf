/** Errors that any room may throw or need to recognize. */
import { types } from 'node:util'

/** An error whose message is enough; the log omits its stack. */
export abstract class ExpectedError extends Error {}

/** A command that cannot be carried out as asked. The message is one line without secrets, and the user can act on it. */
export class UserError extends ExpectedError {
  override readonly name: string = 'UserError'
}

/** A command names something that does not exist. */
export class MissingError extends UserError {
  override readonly name = 'MissingError'
}

/** A command contradicts what is stored. */
export class ConflictError extends UserError {
  override readonly name = 'ConflictError'
}

/** A command gives a field a value that it cannot have. */
export class FieldValueError extends UserError {
  override readonly name = 'FieldValueError'
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/**
 * Returns whether `error` is an error of the operating system with this code, such as `ENOENT`. Jest runs each test
 * in a separate realm, where `instanceof Error` misses errors of Node itself.
 */
export const isSystemError = (error: unknown, code: string): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === code
