/** The time zone in the queries of the explorer. */
import { expect, test } from '@jest/globals'
import { buildQueries } from '../../../src/explorer/queries/build-queries.js'
import { PANELS, RETENTION } from '../../../src/explorer/queries/panels.js'
import { DEFAULT_STATE, type AskedState } from '../../../src/explorer/state/state.js'

const panel = PANELS.find(({ tabs }) => tabs.some(({ id }) => id === RETENTION))!
const STATE: AskedState = { ...DEFAULT_STATE, tabs: { [panel.id]: RETENTION } }

/** The zones of the queries, by their ids. */
const listZones = (zone: string | undefined) =>
  buildQueries({ ...STATE, zone }).map(({ id, body }) => [
    id,
    'time_zone' in body ? body.time_zone : undefined,
  ])

test('without a zone, queries leave it to the service, which knows that of the project', () => {
  expect(listZones(undefined)).toEqual(listZones('UTC').map(([id]) => [id, undefined]))
})

test.each(['UTC', 'Asia/Tokyo'])('%s is sent where it means something', (zone) => {
  const zoneless = ['now', panel.id]
  expect(listZones(zone)).toEqual(
    listZones(undefined).map(([id]) => [id, zoneless.includes(id!) ? undefined : zone]),
  )
})
