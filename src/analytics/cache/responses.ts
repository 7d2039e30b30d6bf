/**
 * Answers requests, from memory where the response is known to be the same as if it were computed now.
 *
 * The rows of a response are kept with the version of the project's data that was seen before they were computed, and given again while
 * that version is read. A writer publishes only after every service has stopped trusting the old version. So a cached response
 * always equals what the store would return now. The part of a response that repeats the request is built for each request.
 */
import type { ResponseSource } from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import type { AnsweredOperation, DatedRequest, QueriedProject, ValidBody } from '../operation.js'
import { buildResponse, type Result } from '../run-operation.js'
import { createResponseStore, type ResponseStore, type ProjectFacts } from './response-store.js'
import { createSharedWork, type SharedWork } from './share-work.js'

export interface GivenResponse {
  readonly source: ResponseSource
  /** The body of the response, as JSON. */
  readonly text: string
  /** The same as an object, if it was computed for this request. */
  readonly body?: object
}

/** A request whose response may be kept. */
interface CacheableRequest {
  readonly operation: AnsweredOperation
  readonly request: ValidBody
  readonly project: QueriedProject
  /** Only requests of the same API key share their work, because it counts for the key. */
  readonly keyId: string
  /** Aborts when the response is no longer wanted. */
  readonly signal: AbortSignal
  /** The moment of the request; the clock says it if left out. The computation knows the same. */
  readonly now?: Date | undefined
}

/** Computes the result of a request. */
type Compute = (options: {
  readonly signal: AbortSignal
  /** What is known about the data. The computation adds what it learns. */
  readonly facts: ProjectFacts
}) => Promise<Result<unknown, object>>

interface ResponseCacheOptions {
  /** The room for rows; 0 to keep none. Equal requests at the same time share their work in any case. */
  readonly maxBytes: number
  /** Returns the version of a project's data; undefined while it is changing or unknown. */
  readonly readVersion: (project: QueriedProject) => Promise<string | undefined>
  /** Returns the version that was seen last, without waiting; undefined if none was. It may be out of date. */
  readonly getLastVersion: (project: QueriedProject) => string | undefined
  /** Whether a version is still that of the project's data, as far as is known without waiting. */
  readonly isCurrent: (project: QueriedProject, version: string) => boolean
  /** Whether a project has events at a moment or later. */
  readonly hasEventsFrom: (project: QueriedProject, moment: Date) => Promise<boolean>
  /** Whether the rollups of a project may be read. */
  readonly readsRollups: (project: QueriedProject) => boolean
  readonly now: () => Date
}

export interface ResponseCache {
  /** Answers a request. @throws what `compute` rejects with, or the reason of the request's signal */
  readonly answer: (cacheable: CacheableRequest, compute: Compute) => Promise<GivenResponse>
  /** Returns how many bytes the kept rows take. */
  readonly countBytes: () => number
}

/** A result, and its rows as JSON. */
interface Computed {
  readonly result: Result<unknown, object>
  readonly rows: string
}

interface Cache extends ResponseCacheOptions {
  readonly store: ResponseStore
  readonly shared: SharedWork<Computed>
  /** The names of the rows that are being computed or waited for. */
  readonly underWay: NameCounter
}

/** A request, and what is known about its rows and the data when it arrives. */
interface Work {
  readonly cacheable: CacheableRequest
  readonly compute: Compute
  /** The version of the data that was read, or seen, before; undefined if there was none. */
  readonly version: string | undefined
  readonly facts: ProjectFacts
  /** What it was resolved to, and the name of its rows, which equal requests share; undefined if they are computed for it alone. */
  readonly named?: { readonly resolved: unknown; readonly name: string }
  /** The response, if its rows are kept. */
  readonly text?: string | undefined
}

export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const store = createResponseStore(options.maxBytes)
  const shared = createSharedWork<Computed>()
  const cache = { ...options, store, shared, underWay: createNameCounter() }
  return {
    answer: (cacheable, compute) => answer(cache, cacheable, compute),
    countBytes: store.countBytes,
  }
}

async function answer(
  cache: Cache,
  cacheable: CacheableRequest,
  compute: Compute,
): Promise<GivenResponse> {
  const { shared, underWay, readsRollups } = cache
  const { project, keyId, signal } = cacheable
  const resolved = resolveKnown(cacheable, {}, cacheable.now ?? cache.now())
  const names =
    resolved === undefined ? [] : listNames(cacheable, resolved.value, readsRollups(project))
  const fresh = resolved && describeNew(cache, cacheable, compute, resolved.value, names)
  const leave = underWay.add(names)
  try {
    const work = fresh ?? (await lookUp(cache, cacheable, compute))
    const { version, facts, named, text } = work
    if (text !== undefined) return { source: 'hit', text }
    const alone = async (): Promise<GivenResponse> =>
      toMiss(cacheable, await computeAndKeep(cache, work, signal))
    if (named === undefined || version === undefined) return await alone()
    const { result, hasJoined } = await shared.share(
      // All who join know that the version is the current one.
      JSON.stringify([keyId, version, named.name]),
      signal,
      (whileWanted) => computeAndKeep(cache, work, whileWanted),
    )
    if (!hasJoined) return toMiss(cacheable, result)
    // The first request may have waited for its turn until the period that ends now was another one.
    const name = nameRows(cacheable, result.result.resolved, facts, readsRollups(project))
    return name === named.name
      ? { source: 'coalesced', text: writeText(cacheable, named.resolved, result.rows) }
      : await alone()
  } finally {
    leave()
  }
}

/**
 * Describes a request whose rows are neither kept nor under way; undefined if they are, or may be. It does not wait for the version of
 * the data: the rows are kept with the version that was seen before they were computed.
 */
function describeNew(
  { store, underWay, readsRollups, getLastVersion }: Cache,
  cacheable: CacheableRequest,
  compute: Compute,
  resolved: unknown,
  names: readonly string[],
): Work | undefined {
  const { project } = cacheable
  if (names.some((name) => store.has(name) || underWay.has(name))) return undefined
  const version = getLastVersion(project)
  if (version === undefined) return undefined
  const facts = store.getFacts(project.id, version)
  const name = nameRows(cacheable, resolved, facts, readsRollups(project))
  return { cacheable, compute, version, facts, named: { resolved, name } }
}

/** Looks for kept rows of the current version of the data. */
async function lookUp(
  { store, now, readVersion, readsRollups, isCurrent }: Cache,
  cacheable: CacheableRequest,
  compute: Compute,
): Promise<Work> {
  const { project } = cacheable
  const version = await readVersion(project)
  const facts = version === undefined ? {} : store.getFacts(project.id, version)
  const work = { cacheable, compute, version, facts }
  const resolved = resolveKnown(cacheable, facts, cacheable.now ?? now())
  if (version === undefined || resolved === undefined) return work
  const name = nameRows(cacheable, resolved.value, facts, readsRollups(project))
  const kept = store.get(project.id, version, name)
  const text = kept === undefined ? undefined : writeText(cacheable, resolved.value, kept)
  // Last of all, because the process may have been suspended. From here to the socket nothing is waited for.
  return isCurrent(project, version)
    ? { ...work, named: { resolved: resolved.value, name }, text }
    : { ...work, version: undefined }
}

/** Writes a response to a request from rows of the same name. */
const writeText = (
  { operation, request }: CacheableRequest,
  resolved: unknown,
  rows: string,
): string => `${JSON.stringify(operation.echo(request, resolved)).slice(0, -1)},${rows.slice(1)}`

function toMiss({ operation, request }: CacheableRequest, { result }: Computed): GivenResponse {
  const body = buildResponse(operation, request, result)
  return { source: 'miss', body, text: JSON.stringify(body) }
}

/** Computes a result, and keeps its rows if the data has a version. */
async function computeAndKeep(cache: Cache, work: Work, signal: AbortSignal): Promise<Computed> {
  const { cacheable, facts } = work
  const isFromRollups = cache.readsRollups(cacheable.project)
  const result = await work.compute({ signal, facts })
  const { resolved } = result
  const rows = JSON.stringify(result.rows)
  const name = (): string => nameRows(cacheable, resolved, facts, isFromRollups)
  const end = cacheable.operation.listEnds(cacheable.request, resolved).at(-1)
  // Nobody waits for this. If it fails, the rows are computed again.
  if (end !== undefined) void keep(cache, work, end, name, rows).catch(() => undefined)
  return { result, rows }
}

/**
 * Keeps rows with their version of the data, before anything is waited for: an equal request that waits for the version finds them.
 * If the data has changed, that version is never read again, so the rows are not given.
 *
 * @param end no event from there on was read
 */
async function keep(
  { store, maxBytes, hasEventsFrom, getLastVersion, now }: Cache,
  { cacheable: { project }, version, facts }: Work,
  end: Date,
  name: () => string,
  rows: string,
): Promise<void> {
  if (version === undefined || maxBytes === 0) return
  // Rows of a later version may be kept by now.
  if (getLastVersion(project) !== version) return
  store.set(project.id, version, name(), rows)
  if (end <= now() || isEmptyFrom(facts, end)) return
  // Until this is known, the rows are kept for the rest of the second.
  if ((await hasEventsFrom(project, end)) || isEmptyFrom(facts, end)) return
  facts.emptyFrom = end
  store.set(project.id, version, name(), rows)
}

/**
 * Resolves a request without the store. Returns undefined if it needs the first event and that is unknown, and for a request that is
 * refused: it is refused when its turn comes.
 */
function resolveKnown(
  { operation, request, project }: CacheableRequest,
  { firstEventAt }: ProjectFacts,
  now: Date,
): { readonly value: unknown } | undefined {
  const { date_range }: DatedRequest = request
  if (date_range === 'all' && firstEventAt === undefined) return undefined
  try {
    return { value: operation.resolve(request, project, firstEventAt ?? null, now) }
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Whether it is known that no event lies at a moment or later. */
const isEmptyFrom = ({ emptyFrom }: ProjectFacts, moment: Date): boolean =>
  emptyFrom !== undefined && emptyFrom <= moment

/**
 * Names the rows of a response: two requests with the same name have the same rows, as long as the data is the same. The name does
 * not depend on the moments after the last event.
 *
 * @param readsRollups whether the rows may come from the rollups
 */
const nameRows = (
  { operation, request, project }: CacheableRequest,
  resolved: unknown,
  facts: ProjectFacts,
  readsRollups: boolean,
): string =>
  JSON.stringify([
    project.id,
    // A later project may have the same id.
    project.createdAt.getTime(),
    readsRollups,
    operation.name,
    ...operation.nameRows(request, resolved, (end) =>
      isEmptyFrom(facts, end) ? 'open' : end.getTime(),
    ),
  ])

/** Lists the names that the rows may have, whatever is known about the data. */
const listNames = (
  cacheable: CacheableRequest,
  resolved: unknown,
  readsRollups: boolean,
): readonly string[] =>
  [
    {},
    ...cacheable.operation
      .listEnds(cacheable.request, resolved)
      .map((emptyFrom) => ({ emptyFrom })),
  ].map((facts) => nameRows(cacheable, resolved, facts, readsRollups))

/** Counts names, each of which may be added several times. */
interface NameCounter {
  readonly has: (name: string) => boolean
  /** Adds names. Returns a function that takes them away again. */
  readonly add: (names: readonly string[]) => () => void
}

function createNameCounter(): NameCounter {
  const counts = new Map<string, number>()
  const change = (name: string, by: number): void => {
    const count = (counts.get(name) ?? 0) + by
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
  }
  return {
    has: (name) => counts.has(name),
    add: (names) => {
      for (const name of names) change(name, 1)
      return () => names.forEach((name) => change(name, -1))
    },
  }
}
