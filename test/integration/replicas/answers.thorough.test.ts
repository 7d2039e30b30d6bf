/** A replicated store gives the answers of a store on one server, on the replica that loaded the events and on the one that took over. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Store } from '../../../src/clickhouse/store.js'
import { findLacking } from '../../../src/clickhouse/replicas/standby.js'
import { question } from '../../support/arbitrary/questions.js'
import { createVisits, DOMAIN, EXCLUDED } from '../../support/arbitrary/visits.js'
import { answer as answerInDuckdb } from '../../support/duckdb/answer.js'
import { createDuckWorld } from '../../support/duckdb/world.js'
import { scaled } from '../../support/effort.js'
import { describeReplicated } from '../../support/replicas/describe-replicated.js'
import { startReplicas, type ReplicaGroup } from '../../support/replicas/replicas.js'
import {
  createReplicatedStore,
  type ReplicatedStore,
} from '../../support/replicas/replicated-store.js'
import { KNOWN_CASES, listDifferences } from '../../support/world/known-cases.js'
import {
  fillDefaults,
  LARGE_SIZES,
  newProject,
  runQuery,
  send,
  type SentEvent,
} from '../../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const VISITS = 400
const QUESTIONS = scaled(10)

describeReplicated('answers of a replicated store', () => {
  let group: ReplicaGroup
  let replicated: ReplicatedStore
  let stores: readonly [Store, Store]
  beforeAll(async () => {
    group = await startReplicas()
    replicated = await createReplicatedStore(group)
    const [a, b] = replicated.stores
    stores = [a.store, b.store]
  })
  afterAll(async () => {
    await replicated.close()
    await group.stop()
  })

  test('are those of known cases', async () => {
    const [a, b] = stores
    const projects = new Map(
      await Promise.all(
        KNOWN_CASES.map(async ({ id }) => [id, await newProject(a, { id })] as const),
      ),
    )
    const events = KNOWN_CASES.flatMap(({ id, events: sent }) =>
      sent.map((one) => ({ ...one, project: id })),
    )
    const { report } = await send(a, { id: '' }, events)
    expect(report).toMatchObject({ events: events.length })
    expect(await findLacking(b.admin)).toEqual(new Map())
    const wrong: string[] = []
    for (const one of KNOWN_CASES) {
      for (const [i, store] of stores.entries()) {
        const found = await runQuery(store, projects.get(one.id)!, one.request)
        wrong.push(...listDifferences(one, found).map((text) => `${one.id} on ${i}: ${text}`))
      }
    }
    expect(wrong).toEqual([])
  })

  test('are those of DuckDB when each replica has loaded a half', async () => {
    const [a, b] = stores
    const [visits = []] = fc.sample(createVisits(VISITS), { seed: SEED, numRuns: 1 })
    const project = await newProject(a, {
      domain: DOMAIN,
      excludedIps: EXCLUDED.ips,
      excludedCountries: EXCLUDED.countries,
    })
    const duck = await createDuckWorld({ domain: DOMAIN, ...EXCLUDED }, visits)
    const half = Math.ceil(visits.length / 2)
    const load = async (from: Store, to: Store, events: readonly SentEvent[]): Promise<void> => {
      await send(from, project, events)
      expect(await findLacking(to.admin)).toEqual(new Map())
    }
    await load(a, b, visits.slice(0, half))
    await load(b, a, visits.slice(half))
    await fc.assert(
      fc.asyncProperty(question, async ({ asked, now, isLarge }) => {
        const clock = { now, createdAt: project.createdAt }
        const want = await answerInDuckdb(duck, fillDefaults(asked), clock)
        for (const store of stores) {
          const sizes = isLarge ? LARGE_SIZES : undefined
          const response = await runQuery(store, project, asked, now, sizes)
          expect(response).toEqual(want)
        }
      }),
      { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
    )
    duck.close()
  })
})
