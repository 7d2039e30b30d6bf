/** Sends events to a collector that is killed again and again; the clients retry. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../src/demo/random.js'

export interface SendersOptions {
  readonly seed: number
  /** The address of the collector; undefined while it is not running. */
  readonly address: () => string | undefined
  readonly token: string
  /** The number of concurrent clients. */
  readonly clients: number
}

export interface Senders {
  /** The marks of the events that the collector acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** The marks of all events that were sent. */
  readonly sent: ReadonlySet<string>
  /** The number of responses by status; `refused`, `dropped` and `late` for requests without a response. */
  readonly responses: Readonly<Record<string, number>>
  /** The number of events that were sent again although they were, or might have been, stored. */
  readonly countRepeats: () => number
  /** The longest time between two responses with status 202, in milliseconds. */
  readonly longestSilence: () => number
  /** Resolves once no request is in flight. */
  readonly stop: () => Promise<void>
}

interface Sent {
  readonly mark: string
  /** An event without an id is sent only once. */
  readonly event: Readonly<Record<string, unknown>>
}

/** Events start this long ago, and each is STEP_MS later than the one before. */
const BACK_MS = 25 * 86_400_000
const STEP_MS = 3_000
const LATE_MS = 3 * 3_600_000
const USERS = 300
const MAX_KEPT = 500
/** A port on which nothing listens. */
const NOWHERE = 'http://127.0.0.1:2'

export function startSenders({ seed, address, token, clients }: SendersOptions): Senders {
  const [acknowledged, sent] = [new Set<string>(), new Set<string>()]
  const responses: Record<string, number> = {}
  const start = Date.now() - BACK_MS
  const kept: (readonly Sent[])[] = []
  const state = { isOn: true, count: 0, again: 0, lastAt: performance.now(), silence: 0 }

  function newEvent(random: Random): Sent {
    const n = (state.count += 1)
    const at = start + ((n * STEP_MS) % (BACK_MS - 3_600_000))
    const mark = `c${n}`
    const hasId = random.chance(0.8)
    const isLate = random.chance(0.1)
    return {
      mark,
      event: {
        ...(hasId ? { event_id: `e${n}` } : {}),
        ...(random.chance(0.9)
          ? { user_id: `u${random.below(USERS)}` }
          : { ip: `10.0.0.${random.below(50)}`, user_agent: 'Mozilla/5.0 Firefox/130.0' }),
        ...(random.chance(0.95)
          ? { timestamp: new Date(at - (isLate ? random.below(LATE_MS) : 0)).toISOString() }
          : {}),
        ...(random.chance(0.3) ? { name: `custom ${random.below(5)}` } : {}),
        path: `/${random.below(100)}`,
        utm_source: `source ${random.below(4)}`,
        properties: { mark },
      },
    }
  }

  /** Returns whether the collector acknowledged the events. */
  async function request(events: readonly Sent[], random: Random): Promise<boolean> {
    const body = events.map(({ event }) => event)
    for (const { mark } of events) sent.add(mark)
    const outcome = await fetch(`${address() ?? NOWHERE}/v1/events`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body.length === 1 && random.chance(0.5) ? body[0] : body),
      signal: AbortSignal.timeout(300 + random.below(8_000)),
    }).then(({ status }) => String(status), nameFailure)
    responses[outcome] = (responses[outcome] ?? 0) + 1
    if (outcome !== '202') return false
    for (const { mark } of events) acknowledged.add(mark)
    const now = performance.now()
    state.silence = Math.max(state.silence, now - state.lastAt)
    state.lastAt = now
    return true
  }

  async function send(random: Random): Promise<void> {
    const isAgain = kept.length > 0 && random.chance(0.05)
    const events = isAgain
      ? kept[random.below(kept.length)]!
      : Array.from({ length: random.chance(0.7) ? 1 : 2 + random.below(30) }, () =>
          newEvent(random),
        )
    if (isAgain) state.again += events.length
    let isStored = await request(events, random)
    const withIds = events.filter(({ event }) => 'event_id' in event)
    const givesUp = random.chance(0.1)
    while (!isStored && state.isOn && !givesUp && withIds.length > 0) {
      await sleep(50 + random.below(400))
      state.again += withIds.length
      isStored = await request(withIds, random)
    }
    if (withIds.length > 0)
      kept[kept.length < MAX_KEPT ? kept.length : random.below(MAX_KEPT)] = withIds
  }

  const client = async (number: number): Promise<void> => {
    const random = createRandom(seed, number)
    while (state.isOn) {
      await send(random)
      await sleep(20 + random.below(150))
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))

  return {
    acknowledged,
    sent,
    responses,
    countRepeats: () => state.again,
    longestSilence: () => Math.round(Math.max(state.silence, performance.now() - state.lastAt)),
    stop: async () => {
      state.isOn = false
      await ended
    },
  }
}

/** Names why a request got no response. */
function nameFailure(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: string } }
  if (name === 'TimeoutError') return 'late'
  return cause?.code === 'ECONNREFUSED' ? 'refused' : 'dropped'
}
