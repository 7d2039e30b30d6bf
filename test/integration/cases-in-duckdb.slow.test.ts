/** Cases from test suites of other products, answered by the second implementation alone. Skipped if they are missing. */
import { expect, test } from '@jest/globals'
import { answer } from '../support/duckdb/answer.js'
import { createDuckWorld } from '../support/duckdb/world.js'
import { KNOWN_CASES, listDifferences } from '../support/world/known-cases.js'
import { fillDefaults, NOW } from '../support/world/world.js'

const PROJECT = { domain: 'example.com', ips: [], countries: [], botAgents: [] }
const CLOCK = { now: NOW, createdAt: new Date('2020-01-01T00:00:00Z') }

// An empty table is an error in jest.
if (KNOWN_CASES.length === 0) {
  test.todo('known cases')
} else {
  test.each(KNOWN_CASES.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
    const duck = await createDuckWorld(PROJECT, one.events)
    const found = await answer(duck, fillDefaults(one.request), CLOCK)
    duck.close()
    expect(listDifferences(one, found)).toEqual([])
  })
}
