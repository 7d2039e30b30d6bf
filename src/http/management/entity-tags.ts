/** The entity tags of what management sends: they follow from the content, so every process computes the same ones. */
import { createHash } from 'node:crypto'
import { ApiError } from '../../contract/errors.js'

/** Computes a strong entity tag. */
export const hashEntity = (body: object): string =>
  `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 27)}"`

/** Returns whether an `If-Match` or `If-None-Match` header names a tag (RFC 9110 §13.1). */
export const isEntityTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag))

/** Creates the error for a change whose condition does not hold. @param tag the current entity tag */
export const createPreconditionError = (message: string, tag?: string): ApiError =>
  new ApiError('PRECONDITION_FAILED', `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.`, {
    headers: tag === undefined ? {} : { ETag: tag },
  })
