/**
 * Runs a request with an `Idempotency-Key` once. The first request with it stores a claim, then its response. A repeated request gets
 * that response. If the first one was interrupted, a later request runs again, and creates what it creates under the same ids, which
 * follow from the key.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import type { Connection } from '../../clickhouse/connection.js'
import { joinCalls, joinInserts } from '../../clickhouse/joined-calls.js'
import { sql, statement, string, strings, uint32 } from '../../clickhouse/sql.js'
import { ApiError } from '../../contract/errors.js'
import { ConflictError, UserError } from '../../lib/errors.js'
import type { ManagementRequest, ManagementResponse } from './management-api.js'

interface OnceOptions {
  readonly idempotencyKey: string
  /** The admin key, from which the key of the encryption follows: a response may have a secret. */
  readonly secret: string
  /** The path of the request with its query string. */
  readonly target: string
}

/**
 * @param run runs the request
 * @throws ConflictError when the key was used with another request
 * @throws ApiError CONFLICT with Retry-After when the first request has not ended yet
 */
export async function runOnce(
  run: (request: ManagementRequest) => Promise<ManagementResponse>,
  request: ManagementRequest,
  { idempotencyKey, secret, target }: OnceOptions,
): Promise<ManagementResponse> {
  const { writer } = request.context.cluster.home.store
  const id = hash([request.key.id, idempotencyKey])
  const fingerprint = hash([target, JSON.stringify(request.body ?? null), request.ifMatch ?? ''])
  const claim = randomUUID()
  await insert(writer, { id, claim, fingerprint, response: '' })
  const rows = await select(writer, id)
  // The oldest row says which request the key belongs to.
  const isSame = rows[0]?.fingerprint === fingerprint
  const known = rows.find(({ response }) => response !== '')
  // Beside a response, a claim does nothing.
  if (isSame && known !== undefined) return decrypt(known.response, secret, id)
  const isFirst = rows.find(({ age }) => age < CLAIM_SECONDS)?.claim === claim
  if (!isSame || !isFirst) {
    // A claim that nobody follows would hold up later requests.
    await withdraw(writer, id, claim)
    throw isSame ? createPendingError() : createOtherRequestError()
  }
  const context = {
    ...request.context,
    createId: (prefix: string, length: number): string => deriveId(prefix, length, id),
    // A claim before this one, of a request that was interrupted.
    isRepeated: rows[0]?.claim !== claim,
  }
  const response = await run({ ...request, context }).catch(async (error: unknown) => {
    // The request may be sent again.
    const isUnchanged = error instanceof UserError || error instanceof ApiError
    await giveUp(writer, { id, claim, fingerprint }, isUnchanged).catch(() => undefined)
    throw error
  })
  await insert(writer, { id, claim, fingerprint, response: encrypt(response, secret, id) })
  return response
}

const createOtherRequestError = (): ConflictError =>
  new ConflictError('this Idempotency-Key was used with another request')

const createPendingError = (): ApiError =>
  new ApiError(
    'CONFLICT',
    'The first request with this Idempotency-Key has not ended yet. Wait the seconds given in Retry-After.',
    { headers: { 'Retry-After': '1' } },
  )

/** A request that takes longer has lost its process. */
const CLAIM_SECONDS = 30

interface Row {
  readonly id: string
  readonly claim: string
  readonly fingerprint: string
  /** Empty for a claim. */
  readonly response: string
}

type Aged = Row & { readonly age: number }

const insertRow = joinInserts(sql`idempotency_keys (id, claim, fingerprint, response)`)

const insert = (writer: Connection, { id, claim, fingerprint, response }: Row): Promise<void> =>
  insertRow(
    writer,
    sql`${string(id)}, ${string(claim)}, ${string(fingerprint)}, ${string(response)}`,
  )

const withdraw = (writer: Connection, id: string, claim: string): Promise<void> =>
  writer.execute(
    statement(
      sql`DELETE FROM idempotency_keys WHERE id = ${string(id)} AND claim = ${string(claim)}`,
    ),
  )

/**
 * Ends a claim without a response.
 *
 * @param isUnchanged whether nothing can have been changed. Otherwise an expired claim says so to the next request
 */
async function giveUp(
  writer: Connection,
  { id, claim, fingerprint }: Omit<Row, 'response'>,
  isUnchanged: boolean,
): Promise<void> {
  if (!isUnchanged) {
    await writer.execute(
      statement(sql`
INSERT INTO idempotency_keys (id, claim, fingerprint, at)
SELECT ${string(id)}, ${string(randomUUID())}, ${string(fingerprint)}, now64(9) - INTERVAL ${uint32(CLAIM_SECONDS)} SECOND`),
    )
  }
  await withdraw(writer, id, claim)
}

/** Returns the rows of a key, the oldest first. */
const select = joinCalls<string, readonly Aged[]>(async (writer, ids) => {
  const { rows } = await writer.query<Aged>(
    statement(sql`
SELECT id, claim, fingerprint, response, dateDiff('second', at, now64(9)) AS age
FROM idempotency_keys WHERE id IN ${strings(ids)} AND at > now64(9) - INTERVAL 24 HOUR ORDER BY at, claim`),
  )
  return ids.map((id) => rows.filter((row) => row.id === id))
})

const hash = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

/** Derives an id of letters and digits. */
function deriveId(prefix: string, length: number, id: string): string {
  const digits = BigInt(`0x${hash([id, prefix])}`).toString(36)
  return prefix + digits.padStart(length, '0').slice(-length)
}

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

const deriveKey = (secret: string, id: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, id, 'idempotency', 32))

function encrypt(response: ManagementResponse, secret: string, id: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, deriveKey(secret, id), iv)
  const text = Buffer.concat([cipher.update(JSON.stringify(response)), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
}

function decrypt(stored: string, secret: string, id: string): ManagementResponse {
  const bytes = Buffer.from(stored, 'base64')
  const decipher = createDecipheriv(CIPHER, deriveKey(secret, id), bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  const text = Buffer.concat([
    decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
    decipher.final(),
  ])
  return JSON.parse(text.toString('utf8')) as ManagementResponse
}
