/** Tells errors of the operating system apart by their code. */
import { types } from 'node:util'

/** Whether it is an error of that code, e.g. `ENOENT`; `instanceof` would miss one of another realm. */
export const isSystemError = (error: unknown, code: string): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === code
