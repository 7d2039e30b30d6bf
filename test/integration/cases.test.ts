/** Cases from test suites of other products: events, a query, and the known numbers. Skipped if they are missing. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { AnalyticsQueryResponse } from '../../src/contract/api.js'
import type { StoredProject } from '../../src/projects/project.js'
import { withDatabase } from '../support/store/database.js'
import { KNOWN_CASES, listDifferences, type Case } from '../support/world/known-cases.js'
import { newProject, runQuery, send } from '../support/world/world.js'

const database = withDatabase()
const projects = new Map<string, StoredProject>()
beforeAll(async () => {
  for (const { id } of KNOWN_CASES) projects.set(id, await newProject(database.store, { id }))
  const events = KNOWN_CASES.flatMap(({ id, events }) =>
    events.map((one) => ({ ...one, project: id })),
  )
  const { report } = await send(database.store, { id: '' }, events)
  expect(report).toMatchObject({ received: events.length, events: events.length })
})

// An empty table is an error in jest.
if (KNOWN_CASES.length > 0) {
  describe('known cases', () => {
    test.each(KNOWN_CASES.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
      const answer = await runQuery(database.store, projects.get(one.id)!, one.request)
      expect(listDifferences(one, answer)).toEqual([])
    })
  })
}

test('differences from a case are found', () => {
  const answer = { data: [{ group: { country: 'DE' }, metrics: { users: 1 } }] }
  const one = {
    request: { group_by: ['country'] },
    expect: { rows: [{ group: 'DE', users: 2 }], order: 'set' },
  }
  expect(
    listDifferences(one as unknown as Case, answer as unknown as AnalyticsQueryResponse),
  ).toHaveLength(1)
})
