/** Clients make up paths, headers, keys and names without end: the memory of the service does not grow with them. */
import { expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { packagePath } from '../../../../src/lib/package-path.js'
import type { DistinctRequests, Outcome } from '../../../support/faults/distinct-requests.js'
import { createDatabase } from '../../../support/store/database.js'
import { createKeys } from '../../../support/world/keys.js'
import { newProject } from '../../../support/world/world.js'

/** A release is tested with 700,000: 100,000 of each kind. */
const COUNT = 8_000
/** If one kind of text were kept, it would be more: each has 3,000 characters, and there are 571 of each kind. */
const MAX_GROWTH = 1_500_000

test(`${COUNT} requests`, async () => {
  const database = await createDatabase()
  const keys = await createKeys(database.store)
  const project = await newProject(database.store)
  const task: DistinctRequests = {
    endpoint: database.endpoint,
    key: await keys.issue(project.id, new Date()),
    token: project.token,
    count: COUNT,
  }
  const script = packagePath('test/support/faults/distinct-requests.ts')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--import', 'tsx', script, JSON.stringify(task)],
    { cwd: packagePath('.') },
  )
  const { growth, statuses } = JSON.parse(stdout) as Outcome
  expect(statuses).toEqual({
    paths: [404],
    'request ids': [200],
    'content types': [415],
    'API keys': [401],
    'public tokens': [401],
    'properties of refused queries': [400],
    'properties of refused events': [400],
  })
  expect(growth).toBeLessThan(MAX_GROWTH)
  await keys.remove()
  await database.drop()
})
