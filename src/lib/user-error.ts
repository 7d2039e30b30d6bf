/** The error for what was asked for and cannot be done. */

/** A person can act on its message, which is one line without secrets. */
export class UserError extends Error {
  override readonly name = 'UserError'
}
