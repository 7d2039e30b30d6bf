/** Each collected event has an id before it is written, so that repeated writes do not duplicate it. */
import { expect, test } from '@jest/globals'
import { createCollect, type Entrance } from '../../../../src/ingest/collect/collect.js'
import type { SentEvent } from '../../../../src/contract/collector-api.js'

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

/** Collects events and returns the ids in the written lines. */
async function collectIds(...events: readonly SentEvent[]): Promise<readonly unknown[]> {
  const ids: unknown[] = []
  const write: Entrance['write'] = ({ lines }) => {
    ids.push(...lines.map((line) => (JSON.parse(line) as SentEvent).event_id))
    return Promise.resolve()
  }
  const collect = createCollect(() => [{ write }])
  await collect({
    project: { id: 'p', shards: [], formerWidths: [] },
    events,
    client: { ip: undefined, userAgent: undefined, isPage: false },
    receivedAt: new Date('2026-03-10T12:00:00Z'),
  })
  return ids
}

test('an event without an id gets a new one, any other keeps its id', async () => {
  const ids = await collectIds({}, {}, { event_id: null }, { event_id: '' }, { event_id: 'given' })
  expect(ids).toEqual([UUID, UUID, UUID, UUID, 'given'])
  expect(new Set(ids).size).toBe(ids.length)
})
