/** Explains why an import of a source failed, and how far it got. */
import { LineTooLongError, SourceError } from '../../ingest/import/formats/format.js'
import { UserError } from '../../lib/errors.js'
import { formatNumber } from '../shared/output.js'

/** A UserError for a failure of the source; any other error as it is. */
export function explainFailure(error: unknown, name: string, rowsBefore: number): unknown {
  const reason = describeSourceFailure(error)
  if (reason === undefined) return error
  const progress =
    rowsBefore === 0
      ? 'nothing was imported'
      : `the ${formatNumber(rowsBefore)} rows before were imported`
  return new UserError(`${name}: ${reason}; ${progress}`)
}

/** Undefined for an error that the source did not cause. */
function describeSourceFailure(error: unknown): string | undefined {
  if (error instanceof LineTooLongError || error instanceof SourceError) return error.message
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (String(error.code).startsWith('Z_')) return `the gzip file is damaged (${error.message})`
  const isReading = 'syscall' in error && error.syscall === 'read'
  return isReading ? `cannot be read (${String(error.code)})` : undefined
}
