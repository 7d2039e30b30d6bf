/** Delivers events: in batches, one request at a time, in order, until each is accepted or lost. */
import type { components } from '../../../generated/collector.js'
import type { Ask } from './http.js'
import { describeFailure, type TallyhouseError } from './result.js'
import { backOff, unref, wait } from './retries.js'

type Schemas = components['schemas']

/** An event as it is sent. */
export type SentEvent = Schemas['SentEvent']

/** What no query will count of a request. */
export interface Exclusion {
  /** How many of its events, by the reason. */
  readonly excluded: NonNullable<Schemas['Accepted']['excluded']>
  /** Those of them that could be sent in another way, so that they count, and which. */
  readonly warnings: readonly { readonly event: SentEvent; readonly message: string }[]
}

export interface DeliveryOptions {
  /** The seconds that an event waits for others, to be sent with them; 1 by default. */
  readonly flushSeconds?: number
  /** The bytes that the waiting events take at most, as JSON in UTF-8; 64 MiB by default. */
  readonly maxQueueBytes?: number
  /** What happens to an event that finds the queue full: `track` throws a QueueFullError, as by default, or `onError` is told that it is lost. */
  readonly whenFull?: 'throw' | 'drop'
  /** The seconds that `close`, and the end of the process, wait for the service; 10 by default. What was not accepted by then is lost. */
  readonly closeSeconds?: number
  /**
   * Is told why a request failed, and which of its events are lost. If none are, all of them are sent again. By default the message is
   * written to the console.
   */
  readonly onError?: (error: TallyhouseError, lost: readonly SentEvent[]) => void
  /** Is told what the service accepted, but will not count. By default it is written to the console. */
  readonly onExcluded?: (exclusion: Exclusion) => void
}

const MAX_EVENTS = 1_000
/** The service takes 1 MB; some proxies before it take less. */
const MAX_BYTES = 500_000
/** How often events are sent at most that get 500, a fault of the service: it may be due to them. */
const MAX_FAULTS = 3
const MAX_BACK_OFF_SECONDS = 30

/** The queue has no room for an event, because the service does not accept events as fast as they are tracked. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

interface Queued {
  readonly json: string
  readonly bytes: number
}

/** The events of a project that wait to be accepted. The first ones are those that are being sent. */
export class Delivery {
  readonly #ask: Ask
  readonly #options: Required<DeliveryOptions>
  readonly #queue: Queued[] = []
  readonly #end = new AbortController()
  #bytes = 0
  /** How many events were queued, and how many are no longer, since the start. */
  #queued = 0
  #settled = 0
  #waiting: { readonly until: number; readonly resolve: () => void }[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #isRunning = false
  #closing: Promise<void> | undefined

  constructor(ask: Ask, options: DeliveryOptions) {
    this.#ask = ask
    this.#options = {
      flushSeconds: 1,
      maxQueueBytes: 64 * 1_024 * 1_024,
      whenFull: 'throw',
      closeSeconds: 10,
      onError: logError,
      onExcluded: logExcluded,
      ...options,
    }
  }

  get isClosed(): boolean {
    return this.#closing !== undefined
  }

  /** Queues an event. @throws QueueFullError if there is no room for it, unless it is to be dropped */
  add(event: SentEvent): void {
    const json = JSON.stringify(event)
    const bytes = new TextEncoder().encode(json).length + 1
    if (this.#bytes + bytes > this.#options.maxQueueBytes) {
      this.#refuse(event)
      return
    }
    this.#queue.push({ json, bytes })
    this.#queued += 1
    this.#bytes += bytes
    if (this.#queue.length >= MAX_EVENTS || this.#bytes >= MAX_BYTES) this.#start()
    else this.#timer ??= unref(setTimeout(() => this.#start(), this.#options.flushSeconds * 1_000))
  }

  #refuse(event: SentEvent): void {
    const { maxQueueBytes, whenFull, onError } = this.#options
    const message = `The queue is full: ${this.#queue.length} events wait, and it may have ${maxQueueBytes} bytes.`
    if (whenFull === 'throw') throw new QueueFullError(message)
    onError(describeFailure(message), [event])
  }

  /** Resolves when the events that are queued now are accepted or lost. */
  async flush(): Promise<void> {
    const until = this.#queued
    if (this.#settled >= until) return
    this.#start()
    await new Promise<void>((resolve) => this.#waiting.push({ until, resolve }))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Reports that nothing more can be sent. */
  abandon(message: string): void {
    if (this.#queue.length > 0)
      this.#options.onError(describeFailure(message), this.#queue.map(parse))
  }

  async #close(): Promise<void> {
    const { closeSeconds } = this.#options
    const end = (): void =>
      this.#end.abort(new Error(`Not accepted within ${closeSeconds} seconds.`))
    const timer = setTimeout(end, closeSeconds * 1_000)
    await this.flush()
    clearTimeout(timer)
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#queue.length > 0) {
      const batch = this.#firstBatch()
      await this.#deliver(batch)
      this.#queue.splice(0, batch.length)
      this.#bytes -= sumBytes(batch)
      this.#settled += batch.length
      const isDone = ({ until }: { readonly until: number }): boolean => until <= this.#settled
      for (const { resolve } of this.#waiting.filter(isDone)) resolve()
      this.#waiting = this.#waiting.filter((one) => !isDone(one))
    }
    this.#isRunning = false
  }

  /** Returns the first events, as many as a request may have. */
  #firstBatch(): readonly Queued[] {
    let [length, bytes] = [0, 2]
    for (const event of this.#queue) {
      bytes += event.bytes
      if (length > 0 && (length === MAX_EVENTS || bytes > MAX_BYTES)) break
      length += 1
    }
    return this.#queue.slice(0, length)
  }

  /** Sends events until each is accepted or lost. */
  async #deliver(batch: readonly Queued[]): Promise<void> {
    const { signal } = this.#end
    let events = batch
    for (let [resent, faults] = [0, 0]; events.length > 0; resent++) {
      const body = `[${events.map(({ json }) => json).join(',')}]`
      const result = await this.#ask<Schemas['Accepted']>('/v1/events', body, { signal })
      if (result.ok) {
        this.#reportExcluded(result.data, events)
        return
      }
      const { error } = result
      if (error.status === 500) faults += 1
      const lost = signal.aborted || faults === MAX_FAULTS ? events : findLost(error, events)
      // A callback that throws does not stop the delivery.
      queueMicrotask(() => this.#options.onError(error, lost.map(parse)))
      events = events.filter((event) => !lost.includes(event))
      if (lost.length > 0) continue
      const seconds = error.retryAfter ?? Math.min(backOff(resent), MAX_BACK_OFF_SECONDS)
      await wait(seconds, signal, { isBackground: true }).catch(() => undefined)
    }
  }

  #reportExcluded(
    { excluded, warnings = [] }: Schemas['Accepted'],
    events: readonly Queued[],
  ): void {
    if (excluded === undefined) return
    const named = warnings.flatMap(({ field, message }) => {
      const [index = '', ...rest] = field.split('.')
      const event = events[Number(index)]
      return event ? [{ event: parse(event), message: `${rest.join('.')} ${message}` }] : []
    })
    queueMicrotask(() => this.#options.onExcluded({ excluded, warnings: named }))
  }
}

/** Returns the events that no later request can deliver: those that an error names, or all if it names none. */
function findLost(error: TallyhouseError, events: readonly Queued[]): readonly Queued[] {
  const { status, details } = error
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429
  if (!isFinal) return []
  const named = new Set(details.map(({ field }) => Number(field.split('.', 1)[0])))
  const invalid = events.filter((_, index) => named.has(index))
  return invalid.length > 0 ? invalid : events
}

const parse = ({ json }: Queued): SentEvent => JSON.parse(json) as SentEvent

const sumBytes = (events: readonly Queued[]): number =>
  events.reduce((sum, { bytes }) => sum + bytes, 0)

function logError({ code, message }: TallyhouseError, { length }: readonly SentEvent[]): void {
  const events = length === 0 ? 'events are sent again' : `events are lost (${length})`
  console.error(`tallyhouse: ${events}: ${code}: ${message}`)
}

function logExcluded({ excluded, warnings: [warning] }: Exclusion): void {
  const reason = warning === undefined ? '' : `: ${warning.message}`
  console.warn(`tallyhouse: events are not counted: ${JSON.stringify(excluded)}${reason}`)
}
