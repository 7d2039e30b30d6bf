/** Random events of named users and of addresses, whose ids are those of their sender, and of an address on its day. */
import fc from 'fast-check'
import type { SentEvent } from '../world/world.js'
import { rollupEvent } from './rollups.js'

const AGENTS = ['', 'Mozilla/5.0', 'x'.repeat(3_000)]

/** An event of a named user or of an address. @param agents the user agents of addresses */
export const createSentEvent = (agents: readonly string[] = AGENTS): fc.Arbitrary<SentEvent> =>
  fc
    .tuple(
      rollupEvent,
      fc.option(
        fc.record({
          ip: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::3'),
          user_agent: fc.constantFrom(...agents),
        }),
        { freq: 2 },
      ),
    )
    .map(([event, client]) => {
      const sender = client ?? { user_id: event['user_id'] }
      const day = client === null ? '' : event.timestamp.slice(0, 10)
      const id = event['event_id'] as string | undefined
      return {
        ...event,
        user_id: '',
        ...sender,
        event_id:
          id === undefined || id === ''
            ? ''
            : `${id} ${day} ${JSON.stringify(sender).slice(0, 60)}`,
      }
    })
