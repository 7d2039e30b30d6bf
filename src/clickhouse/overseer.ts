/** Looks after the statements of a connection from a second one: whether they run, how they ended, and their end. */
import { ClickHouseError, type ClickHouseClient, type ResponseJSON } from '@clickhouse/client'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../lib/time.js'
import { parseClickHouseError, QueryCancelledError, StoreUnavailableError } from './errors.js'
import { SEMANTIC_SETTINGS } from './semantic-settings.js'
import { sql, statement, string, type Sql } from './sql.js'
import { supervise, type Watch } from './supervise.js'

export interface Overseer {
  /**
   * Watches a statement. The watch rejects with a StoreUnavailableError when the store answers nothing, or when it
   * has ended the statement and the response does not come.
   *
   * @param isSent returns false while the store need not know the statement yet; by default it must
   */
  watch(queryId: string, isSent?: () => boolean): Watch
  /** Ends a statement soon. Failures are ignored: the statement then ends by its own limits. */
  kill(queryId: string): void
  /**
   * Waits until a statement whose connection broke has ended in the store. Returns when it succeeded.
   *
   * @throws the ClickHouseError with which it failed; `lost` when the store does not know how it ended
   */
  awaitOutcome(queryId: string, lost: Error, signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Most statements end before the first check. */
const CHECK_INTERVAL_MS = 10 * SECOND_MS
const CHECK_TIMEOUT_MS = 5 * SECOND_MS
/** The store counts as hung when it leaves this many checks in succession unanswered. */
const MAX_UNANSWERED = 2
/** The response counts as lost when this many checks in succession do not find the statement. */
const MAX_NOT_FOUND = 2

const KILL_TIMEOUT_MS = 2 * SECOND_MS
/** A query that was cancelled on its way to ClickHouse may start after the first KILL, so a second one follows. */
const SECOND_KILL_DELAY_MS = 500
/** More are not sent: a store that leaves this many unanswered does not execute them either. */
const MAX_KILLS = 32

const OUTCOME_POLL_MS = SECOND_MS

/** Creates the overseer of a connection. It opens its own client at the first use. */
export function createOverseer(openClient: () => ClickHouseClient): Overseer {
  let opened: ClickHouseClient | undefined
  let kills = 0
  const getClient = (): ClickHouseClient => (opened ??= openClient())
  const store: Informant = {
    ask: (question) => askWithin(getClient(), question, CHECK_TIMEOUT_MS),
    tell: (order, timeoutMs = CHECK_TIMEOUT_MS) => tellWithin(getClient(), order, timeoutMs),
  }
  const kill = async (queryId: string): Promise<void> => {
    for (const delay of [0, SECOND_KILL_DELAY_MS]) {
      await sleep(delay, undefined, { ref: false })
      const query = sql`KILL QUERY WHERE query_id = ${string(queryId)} ASYNC`
      // The server may deny KILL to this account.
      await store.tell(query, KILL_TIMEOUT_MS).catch(() => undefined)
    }
  }
  return {
    watch: (queryId, isSent) => (ended) => watch(store, queryId, isSent, ended),
    kill: (queryId) => {
      if (kills >= MAX_KILLS) return
      kills += 1
      void kill(queryId).finally(() => (kills -= 1))
    },
    awaitOutcome: (queryId, lost, signal) => awaitOutcome(store, queryId, lost, signal),
    close: async () => opened?.close(),
  }
}

/** Sends the store short statements. They reject with a QueryCancelledError when it does not answer in time. */
interface Informant {
  /** Sends a SELECT, and returns its rows. */
  readonly ask: <Row>(question: Sql) => Promise<readonly Row[]>
  /** Sends a statement without a result. */
  readonly tell: (order: Sql, timeoutMs?: number) => Promise<void>
}

async function askWithin<Row>(
  client: ClickHouseClient,
  question: Sql,
  timeoutMs: number,
): Promise<readonly Row[]> {
  const { query, query_params } = statement(question)
  const send = async (abort_signal: AbortSignal): Promise<ResponseJSON<Row>> => {
    const result = await client.query({
      query,
      query_params,
      abort_signal,
      format: 'JSON',
      clickhouse_settings: SEMANTIC_SETTINGS,
    })
    abort_signal.addEventListener('abort', () => result.close(), { once: true })
    return result.json<Row>()
  }
  const { data } = await supervise(send, { signal: AbortSignal.timeout(timeoutMs) })
  return data
}

async function tellWithin(client: ClickHouseClient, order: Sql, timeoutMs: number): Promise<void> {
  const { query, query_params } = statement(order)
  const send = (abort_signal: AbortSignal): Promise<unknown> =>
    client.command({ query, query_params, abort_signal })
  await supervise(send, { signal: AbortSignal.timeout(timeoutMs) })
}

async function isRunning({ ask }: Informant, queryId: string): Promise<boolean> {
  const rows = await ask(sql`SELECT 1 FROM processes WHERE query_id = ${string(queryId)}`)
  return rows.length > 0
}

async function watch(
  store: Informant,
  queryId: string,
  isSent: () => boolean = () => true,
  ended: AbortSignal,
): Promise<never> {
  let unanswered = 0
  let notFound = 0
  for (;;) {
    await sleep(CHECK_INTERVAL_MS, undefined, { ref: false, signal: ended })
    try {
      const isLost = !(await isRunning(store, queryId)) && isSent()
      notFound = isLost ? notFound + 1 : 0
      unanswered = 0
    } catch (error) {
      // An account without access to system.processes gets an error, which is a response, too.
      unanswered = error instanceof ClickHouseError ? 0 : unanswered + 1
    }
    if (unanswered >= MAX_UNANSWERED) throw new StoreUnavailableError('the store hangs')
    if (notFound >= MAX_NOT_FOUND) throw new StoreUnavailableError('the response was lost')
  }
}

async function awaitOutcome(
  store: Informant,
  queryId: string,
  lost: Error,
  signal?: AbortSignal,
): Promise<void> {
  let unanswered = 0
  let notFound = 0
  let failure: Error | undefined
  while (unanswered < MAX_UNANSWERED && notFound < MAX_NOT_FOUND) {
    if (signal?.aborted === true) throw new QueryCancelledError(signal.reason)
    try {
      if (await isRunning(store, queryId)) notFound = 0
      else {
        const outcome = await readOutcome(store, queryId)
        if (outcome === 'succeeded') return
        if (outcome !== undefined) failure = outcome
        notFound += 1
      }
      unanswered = 0
    } catch (error) {
      // The balancer may cut this connection, too. If ClickHouse responds with an error, this account may not know.
      if (error instanceof ClickHouseError) throw lost
      unanswered += 1
    }
    if (failure !== undefined) throw failure
    // While the store is away no connection is open, and only this timer keeps the process alive.
    await sleep(OUTCOME_POLL_MS, undefined, { signal }).catch(() => undefined)
  }
  throw lost
}

/** Returns what the log of the store says about a statement that has ended: its error, or that it succeeded. */
async function readOutcome(
  { ask, tell }: Informant,
  queryId: string,
): Promise<Error | 'succeeded' | undefined> {
  await tell(sql`SYSTEM FLUSH LOGS query_log`)
  const [entry] = await ask<{ exception: string }>(sql`
    SELECT exception FROM query_log
    WHERE query_id = ${string(queryId)} AND type != 'QueryStart' AND event_date >= today() - 30`)
  if (entry === undefined) return undefined
  return entry.exception === '' ? 'succeeded' : parseClickHouseError(entry.exception)
}
