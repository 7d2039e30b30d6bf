/** What a connection to a store can do. */
import type { Readable } from 'node:stream'
import type { Replica } from './replica.js'
import type { Statement } from './sql.js'
import type { QueryOptions, QueryResult, Settings } from './statements.js'
import type { ConsumeRows } from './stream-rows.js'

/**
 * A connection. Every statement ends, even when the store hangs: when its signal is aborted, or when the store has
 * answered no other query for half a minute. A statement may run for hours as long as the store says that it does.
 *
 * Statements reject with a QueryCancelledError when their signal is aborted, a StoreUnavailableError when the store
 * does not answer, and the client's ClickHouseError when ClickHouse rejects them.
 */
export interface Connection {
  /**
   * Runs a SELECT.
   *
   * @throws IncompleteResponseError when rows are missing, and the errors above
   */
  query<Row>(statement: Statement, options?: QueryOptions): Promise<QueryResult<Row>>
  /**
   * Runs a SELECT with a LIMIT, and hands its rows to a consumer while they arrive. The statement ends when the consumer settles.
   *
   * @throws what the consumer rejects with, and the errors above
   */
  stream<Row>(
    statement: Statement,
    consume: ConsumeRows<Row>,
    options?: QueryOptions,
  ): Promise<void>
  /**
   * Runs a statement without a result: DDL, INSERT … SELECT. When the connection breaks, the statement goes on in
   * ClickHouse: this waits for its end, and returns or throws its outcome.
   */
  execute(statement: Statement, settings?: Settings, signal?: AbortSignal): Promise<void>
  /**
   * Streams bytes as the data of an INSERT; the statement names their FORMAT. When it rejects, the rows may have
   * been stored.
   */
  upload(
    statement: Statement,
    bytes: Readable,
    settings?: Settings,
    signal?: AbortSignal,
  ): Promise<void>
  /**
   * Streams the result of a SELECT, in the FORMAT that the statement names, to a consumer. When the statement fails on its way,
   * the bytes end early, or with the text of an error: the caller checks what has become of them.
   */
  download(
    statement: Statement,
    consume: (bytes: Readable) => Promise<void>,
    settings?: Settings,
    signal?: AbortSignal,
  ): Promise<void>
  /** Returns whether ClickHouse answers a query within `timeoutMs`. */
  ping(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
  /** The replica that it is connected to, of a store that has several. */
  readonly replica?: Replica
}
