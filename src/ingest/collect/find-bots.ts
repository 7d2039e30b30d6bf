/** Finds the events of bots in a request, so that the response can say that they are stored but not counted. */
import { LRUCache } from 'lru-cache'
import type { SentEvent } from '../../contract/collector-api.js'
import { isBot } from '../enrichment/user-agents.js'
import { isPresent, type ClientInfo } from './client-info.js'

export interface BotEvents {
  /** How many events have the user agent of a bot. The loader excludes them. */
  readonly bots: number
  /** The positions, counted from 0, of those that a server sent without a user: they got the user agent of the server. */
  readonly withoutUser: readonly number[]
}

/** An event as it was sent, and as it is stored. */
interface StoredEvent {
  readonly sent: SentEvent
  readonly event: SentEvent
}

/** How many user agents are remembered: to classify one takes some microseconds, and pages send few different ones. */
const MAX_REMEMBERED = 10_000
/** Longer ones are not remembered, so that they do not fill the memory. */
const MAX_REMEMBERED_LENGTH = 512

const remembered = new LRUCache<string, boolean>({ max: MAX_REMEMBERED })

/** Finds the events that the loader will exclude because of their user agents. */
export function findBots(events: readonly StoredEvent[], { isPage }: ClientInfo): BotEvents {
  const withoutUser: number[] = []
  let bots = 0
  events.forEach(({ sent, event: { user_agent: userAgent } }, index) => {
    if (!isPresent(userAgent) || !recall(userAgent)) return
    bots += 1
    if (!isPage && !isPresent(sent.user_agent)) withoutUser.push(index)
  })
  return { bots, withoutUser }
}

function recall(userAgent: string): boolean {
  if (userAgent.length > MAX_REMEMBERED_LENGTH) return isBot(userAgent)
  const known = remembered.get(userAgent)
  if (known !== undefined) return known
  const found = isBot(userAgent)
  remembered.set(userAgent, found)
  return found
}
