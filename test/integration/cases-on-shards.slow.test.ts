/** Cases from test suites of other products, on projects across one, two and four shards. Skipped if they are missing. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { StoredProject } from '../../src/projects/project.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { newWideProject, runQuery, sendToShards } from '../support/cluster/wide-world.js'
import { KNOWN_CASES, listDifferences } from '../support/world/known-cases.js'

const WIDTHS = [1, 2, 4]

const nameProject = (id: string, width: number): string => `${id}-${width}`

// An empty table is an error in jest.
if (KNOWN_CASES.length === 0) {
  test.todo('known cases')
} else {
  let cluster: TestCluster
  const projects = new Map<string, StoredProject>()

  beforeAll(async () => {
    cluster = await startCluster(4)
    for (const width of WIDTHS) {
      const shards = cluster.shards.slice(0, width)
      for (const { id: name } of KNOWN_CASES) {
        const id = nameProject(name, width)
        projects.set(id, await newWideProject(cluster, shards, { id }))
      }
    }
    const events = WIDTHS.flatMap((width) =>
      KNOWN_CASES.flatMap(({ id, events: sent }) =>
        sent.map((one) => ({ ...one, project: nameProject(id, width) })),
      ),
    )
    await sendToShards(cluster, [...projects.values()], events)
  })
  afterAll(() => cluster.stop())

  describe.each(WIDTHS)('known cases on %d shards', (width) => {
    test.each(KNOWN_CASES.map((one) => [one.id, one] as const))('%s', async (id, one) => {
      const project = projects.get(nameProject(id, width))!
      const answer = await runQuery(cluster, project, one.request)
      expect(listDifferences(one, answer)).toEqual([])
    })
  })
}
