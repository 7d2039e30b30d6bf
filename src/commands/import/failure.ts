/** Says which source made an import fail, and how far it had come. */
import { LineTooLongError, SourceError } from '../../ingest/import/formats/format.js'
import { UserError } from '../../lib/errors.js'
import { grouped } from '../shared/progress.js'

/** The error to show; what is not the source's fault is left as it is. */
export function importFailure(error: unknown, name: string, rowsBefore: number): unknown {
  const words = faultOf(error)
  if (words === undefined) return error
  const before =
    rowsBefore === 0 ? 'nothing of it was' : `the ${grouped(rowsBefore)} rows before that were`
  return new UserError(`${name}: ${words}; ${before} imported`)
}

function faultOf(error: unknown): string | undefined {
  if (error instanceof LineTooLongError || error instanceof SourceError) return error.message
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (String(error.code).startsWith('Z_')) return `the gzip file is damaged (${error.message})`
  const isReading = 'syscall' in error && error.syscall === 'read'
  return isReading ? `cannot be read (${String(error.code)})` : undefined
}
