/** A client of management: projects, their keys, users and notes, and what they used. */
import type { components } from '../../../generated/management.js'
import {
  connect,
  type Ask,
  type ConnectionOptions,
  type Reader,
  type RequestOptions,
} from './http.js'
import { OPERATIONS, type ManagementOperations } from './management-operations.js'
import { formatQuery, request, type Operation } from './management-request.js'
import { describeFailure, type Result } from './result.js'
import { wait } from './retries.js'

type Schemas = components['schemas']

export interface ManagementOptions extends ConnectionOptions {
  /** The admin key, `tallyadmin_…`. It belongs on servers only. */
  readonly adminKey: string
}

export interface WaitOptions extends RequestOptions {
  /** The seconds that the operation may take; 600 by default. After them, it is an error. */
  readonly maxWaitSeconds?: number
}

export interface ManagementClient extends ManagementOperations {
  /** Asks for an operation until it is `done` or `failed`, first often, then every 5 seconds. */
  waitForOperation(
    operationId: string,
    options?: WaitOptions,
  ): Promise<Result<Schemas['Operation']>>
  /** GET /v1/usage as CSV: all pages as one text, with one header. */
  usageCsv(options?: Parameters<ManagementOperations['usage']>[0]): Promise<Result<string>>
}

/** Creates a client of management. */
export function createManagement({ adminKey, ...options }: ManagementOptions): ManagementClient {
  const ask = connect(adminKey, options)
  const methods = Object.fromEntries(
    Object.entries<Operation>(OPERATIONS).flatMap(([name, operation]) => {
      const method = (...given: readonly unknown[]) => request(ask, operation, given)
      const { pages } = operation
      return pages === undefined
        ? [[name, method]]
        : [
            [name, method],
            [pages, (...given: readonly unknown[]) => readPages(method, pages, given)],
          ]
    }),
    // The contract declares the type of each.
  ) as unknown as ManagementOperations
  return {
    ...methods,
    waitForOperation: (id, waiting) =>
      waitForOperation((one) => methods.getOperation(id, one), id, waiting),
    usageCsv: (given) => readCsv(ask, given),
  }
}

type Page = Readonly<Record<string, unknown>> & { readonly nextCursor: string | null }

/** Reads the pages of a list. Its last argument is that of the options. */
async function* readPages(
  read: (...given: readonly unknown[]) => Promise<Result<unknown>>,
  member: string,
  given: readonly unknown[],
): AsyncGenerator<Result<unknown>> {
  const last = given.at(-1)
  const hasOptions = typeof last === 'object'
  const places = hasOptions ? given.slice(0, -1) : given
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read(...places, { ...(hasOptions ? last : {}), cursor })
    if (!page.ok) {
      yield page
      return
    }
    const { [member]: data, nextCursor } = page.data as Page
    yield { ok: true, data }
    cursor = nextCursor
  }
}

const DEFAULT_OPERATION_SECONDS = 600
const MAX_PAUSE_SECONDS = 5

async function waitForOperation(
  get: (options: RequestOptions) => Promise<Result<Schemas['Operation']>>,
  id: string,
  { maxWaitSeconds = DEFAULT_OPERATION_SECONDS, ...options }: WaitOptions = {},
): Promise<Result<Schemas['Operation']>> {
  for (let [asked, waited] = [0, 0]; ; asked++) {
    const result = await get(options)
    if (!result.ok || result.data.state === 'done' || result.data.state === 'failed') return result
    const seconds = Math.min(2 ** asked / 4, MAX_PAUSE_SECONDS)
    waited += seconds
    try {
      if (waited > maxWaitSeconds) {
        throw new Error(
          `The operation ${id} is ${result.data.state} after ${maxWaitSeconds} seconds.`,
        )
      }
      await wait(seconds, options.signal)
    } catch (cause) {
      return { ok: false, error: describeFailure(cause) }
    }
  }
}

interface CsvPage {
  readonly text: string
  readonly next: string | null
}

const CSV: Reader<CsvPage> = {
  mediaType: 'text/csv',
  read: async (response) => ({
    text: await response.text(),
    next: response.headers.get('tally-next-cursor'),
  }),
}

async function readCsv(
  ask: Ask,
  { signal, ...query }: Parameters<ManagementOperations['usage']>[0] = {},
): Promise<Result<string>> {
  const options = { method: 'GET', ...(signal && { signal }) }
  const lines: string[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const path = `/v1/usage${formatQuery({ ...query, cursor })}`
    const page: Result<CsvPage> = await ask(path, undefined, options, CSV)
    if (!page.ok) return page
    const [header = '', ...rows] = page.data.text.split('\r\n').filter((line) => line !== '')
    lines.push(...(lines.length === 0 ? [header] : []), ...rows)
    cursor = page.data.next
  }
  return { ok: true, data: lines.map((line) => `${line}\r\n`).join('') }
}
