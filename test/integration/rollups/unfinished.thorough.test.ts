/** A rebuild of the rollups first finishes an interrupted load, which counts once. */
import { expect, test } from '@jest/globals'
import { insertBatch } from '../../../src/ingest/inbox/batches.js'
import { sample } from '../../support/effort.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { withDatabase } from '../../support/store/database.js'
import { expectConsistentFacts, listLeftovers } from '../../support/store/facts.js'
import { ARRIVAL, createWorld, type SentEvent } from '../../support/world/world.js'
import {
  checkRollups,
  loadBatch,
  rebuildRollups,
  resumeLoads,
} from '../../support/store/loading.js'

const database = withDatabase()

const at = (minute: number, country: string): SentEvent => ({
  timestamp: `2026-01-31T10:${minute}0:00Z`,
  user_id: 'u',
  path: '/',
  country,
})

const STOPS = [
  ['before anything is computed', /INSERT INTO loads/],
  ['after its old events were deleted', /ALTER TABLE events UPDATE _row_exists/],
  ['after its events were written', /INSERT INTO events/],
  ['after its sessions were written', /INSERT INTO sessions/],
  ['after it was recorded for the rollups', /INSERT INTO event_changes/],
  ['after stale users were listed', /SELECT grain, .* AS day/],
  ['after bitmaps were written without stale users', /INSERT INTO users_monthly/],
] as const

test.each(sample(STOPS, 6))(
  'a load that stopped %s is finished by a rebuild',
  async (_when, last) => {
    const { writer } = database.store
    const project = await createWorld(database.store, [at(1, 'DE'), at(2, 'DE')])
    await insertBatch(writer, {
      now: ARRIVAL,
      strict: false,
      batch: project.id,
      projectId: project.id,
      firstRow: 1,
      bytes: Buffer.from(JSON.stringify(at(0, 'FR'))),
    })
    const broken = loadBatch(breakAfter(writer, last), project.id)
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    await rebuildRollups(writer, { projectId: project.id })
    await resumeLoads(writer)
    await expectConsistentFacts(database.store, project.id)
    expect(await listLeftovers(database.store)).toEqual([])
  },
)

test('the rollups of all cases agree with the events', async () => {
  expect(await checkRollups(database.store.writer, {})).toEqual({
    months: 1,
    groups: expect.any(Number),
    different: 0,
    differences: [],
  })
})
