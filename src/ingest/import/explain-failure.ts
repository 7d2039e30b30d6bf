/** Explains why an import of a source failed, and how far it got. */
import { types } from 'node:util'
import { LineTooLongError, SourceError } from './formats/format.js'
import { StoreFullError } from '../inbox/disk-space.js'
import { formatCount } from '../../lib/counts.js'
import { UserError } from '../../lib/errors.js'

/** Returns a UserError for a failure of the source, or of the disk, and any other error unchanged. */
export function explainFailure(error: unknown, name: string, rowsBefore: number): unknown {
  const reason = describeSourceFailure(error)
  if (reason === undefined) return error
  const progress =
    rowsBefore === 0
      ? 'nothing was imported'
      : `${formatCount(rowsBefore, 'row')} before that ${rowsBefore === 1 ? 'was' : 'were'} imported`
  return new UserError(`${name}: ${reason}; ${progress}`)
}

/** Describes a failure of the source, or of the disk; undefined for an error that it did not cause. */
function describeSourceFailure(error: unknown): string | undefined {
  const isExplained =
    error instanceof LineTooLongError ||
    error instanceof SourceError ||
    error instanceof StoreFullError
  if (isExplained) return error.message
  // Errors of Node itself may come from another realm, where `instanceof Error` is false.
  if (!types.isNativeError(error) || !('code' in error)) return undefined
  if (String(error.code).startsWith('Z_')) return `the gzip file is damaged (${error.message})`
  const isReading = 'syscall' in error && error.syscall === 'read'
  return isReading ? `cannot be read (${String(error.code)})` : undefined
}
