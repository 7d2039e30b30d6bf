/** Events are sent without a pause while the service and its engine are killed: each accepted event counts once. */
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../../../src/demo/random.js'
import { readUsage, type Usage } from '../../../../src/usage/read-usage.js'
import { scaled } from '../../../support/effort.js'
import {
  compareMarks,
  expectConsistent,
  listRemainingWork,
  type Marks,
} from '../../../support/kills/check.js'
import { createImports } from '../../../support/kills/imports.js'
import { killProcesses, listProcesses } from '../../../support/kills/processes.js'
import { startSenders } from '../../../support/kills/senders.js'
import { createEnv, runService } from '../../../support/kills/service.js'
import { killAll, planKills, type Kill } from '../../../support/kills/kills.js'
import { newWideProject } from '../../../support/cluster/wide-world.js'
import { aDataDir } from '../../clickhouse/embedded/support.js'
import { until } from '../../../support/until.js'

/** 100 kills take a quarter of an hour. */
const KILLS = scaled(1)
const SEED = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e9))
const CLIENTS = 8

/** The test fails with its story before jest would end it without one. */
const TIMEOUT_MS = 480_000 + KILLS * 30_000

interface Story extends Record<string, unknown> {
  readonly seed: number
  /** What the test is doing. */
  stage: string
  /** The kills so far, in order. */
  readonly kills: Kill[]
  /** Returns the end of the service's log. */
  log?: () => string
}

const ALL_DAYS = {
  from: new Date('2020-01-01'),
  to: new Date('2099-12-31'),
  interval: 'month',
} as const

const sum = (rows: readonly Usage[], name: 'accepted' | 'counted' | 'repeated'): number =>
  rows.reduce((total, row) => total + row[name], 0)

/** Sends and kills, then compares. Records the figures in `story`. */
async function run(story: Story, dataDir: string, shards: number, kills: number): Promise<void> {
  const folder = await aDataDir()
  const random = createRandom(SEED)
  const service = runService(dataDir, shards)
  const { address, unexpectedExits } = service
  try {
    await until(() => address() !== undefined)
    const { id, token } = (await service.withCluster((cluster) =>
      newWideProject(cluster, cluster.shards),
    ))!
    const senders = startSenders({ seed: SEED, address, token, clients: CLIENTS })
    const imports = createImports(folder, createEnv(dataDir, shards), id, random)
    Object.assign(story, {
      log: service.log,
      unexpectedExits,
      answers: senders.responses,
      imports: imports.outcomes,
    })
    const plan = planKills(kills, random, shards)
    try {
      await killAll({ service, senders, imports }, plan, (kill) => story.kills.push(kill))
    } finally {
      story['longestSilence'] = senders.longestSilence()
      story.stage = 'waiting for the senders'
      await senders.stop()
      story.stage = 'waiting for the imports'
      await imports.done()
    }
    story.stage = 'draining'
    story['sentAgain'] = senders.countRepeats()
    story['msToDrain'] = await until(async () => {
      story['left'] = await service.withCluster(listRemainingWork)
      return (story['left'] as readonly string[] | undefined)?.length === 0
    })
    const marks: Marks = {
      acknowledged: new Set([...senders.acknowledged, ...imports.marks]),
      sent: new Set([...senders.sent, ...imports.marks]),
    }
    story.stage = 'checking'
    const begun = performance.now()
    const cluster = (await service.openCluster())!
    const found = await compareMarks(cluster, id, marks)
    Object.assign(story, { found, imported: imports.marks.size })
    expect(found).toMatchObject({ lost: [], doubled: [], unknown: [] })
    await expectConsistent(cluster, id)
    const usage = await readUsage(cluster, { ...ALL_DAYS, projectIds: [id] })
    // Each event that was sent counts once, and more often only as repeated.
    expect(sum(usage, 'counted')).toBe(found.stored)
    expect(sum(usage, 'accepted')).toBe(found.stored + sum(usage, 'repeated'))
    await cluster.close()
    story['msToCheck'] = Math.round(performance.now() - begun)
    // The service may exit by itself for one reason only: an import had the store to itself.
    expect(unexpectedExits.filter((line) => !line.includes(' is in use by '))).toEqual([])
  } finally {
    story.stage = `stopping the service after ${story.stage}`
    story['exit'] = await service.stop()
  }
  expect(story['exit']).toBe(0)
}

test.each([
  [1, KILLS],
  [3, Math.ceil(KILLS / 2)],
])(
  'with %d shards and %d kills',
  async (shards, kills) => {
    const dataDir = await aDataDir()
    const story: Story = { seed: SEED, stage: 'killing', kills: [] }
    const printStory = (): boolean =>
      process.stderr.write(`${JSON.stringify({ ...story, log: story.log?.() })}\n`)
    const deadline = new AbortController()
    const expire = async (): Promise<never> => {
      await sleep(TIMEOUT_MS, undefined, { signal: deadline.signal })
      story['processes'] = await listProcesses(dataDir)
      throw new Error(`still ${story.stage} after ${TIMEOUT_MS} ms`)
    }
    try {
      await Promise.race([run(story, dataDir, shards, kills), expire()])
    } catch (error) {
      printStory()
      throw error
    } finally {
      deadline.abort()
      await killProcesses(dataDir)
    }
    if (KILLS > 10) printStory()
  },
  TIMEOUT_MS + 60_000,
)
