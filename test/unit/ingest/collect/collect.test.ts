/** Each event that is collected has an id, which it keeps however often it is written. */
import { expect, test } from '@jest/globals'
import { createCollect } from '../../../../src/ingest/collect/collect.js'
import type { SentEvent } from '../../../../src/contract/collector-api.js'

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

/** The ids in the lines that events are written as. */
async function idsOf(...events: readonly SentEvent[]): Promise<readonly unknown[]> {
  const ids: unknown[] = []
  const collect = createCollect(({ lines }) => {
    ids.push(...lines.map((line) => (JSON.parse(line) as SentEvent).event_id))
    return Promise.resolve()
  })
  await collect({
    projectId: 'p',
    events,
    client: { ip: undefined, userAgent: undefined, isBrowser: false },
    receivedAt: new Date('2026-03-10T12:00:00Z'),
  })
  return ids
}

test('an event without an id gets one of its own, any other keeps its own', async () => {
  const ids = await idsOf({}, {}, { event_id: null }, { event_id: '' }, { event_id: 'given' })
  expect(ids).toEqual([UUID, UUID, UUID, UUID, 'given'])
  expect(new Set(ids).size).toBe(ids.length)
})
