/** Events are sent without a pause while the service and its engine are killed: each accepted event counts once. */
import { expect, test } from '@jest/globals'
import { createRandom } from '../../../../src/demo/random.js'
import {
  compareMarks,
  expectConsistent,
  isDrained,
  type Marks,
} from '../../../support/kills/check.js'
import { createImports } from '../../../support/kills/imports.js'
import { startSenders } from '../../../support/kills/senders.js'
import { runService } from '../../../support/kills/service.js'
import { killAll, WAIT_TIMEOUT_MS, planKills, type Kill } from '../../../support/kills/kills.js'
import { newProject } from '../../../support/world/world.js'
import { aDataDir, until } from '../../clickhouse/embedded/support.js'

/** 100 kills take a quarter of an hour. */
const KILLS = Number(process.env['KILLS'] ?? 8)
const SEED = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e9))
const CLIENTS = 8

interface Story extends Record<string, unknown> {
  readonly seed: number
  /** The kills so far, in order. */
  readonly kills: Kill[]
}

/** Sends and kills, then compares. Records the figures in `story`. */
async function run(story: Story): Promise<void> {
  const [dataDir, folder] = [await aDataDir(), await aDataDir()]
  const random = createRandom(SEED)
  const service = runService(dataDir)
  const { address, unexpectedExits } = service
  try {
    await until(() => address() !== undefined, WAIT_TIMEOUT_MS)
    const { id, token } = (await service.withStore((store) => newProject(store)))!
    const senders = startSenders({ seed: SEED, address, token, clients: CLIENTS })
    const imports = createImports(folder, dataDir, id, random)
    Object.assign(story, { unexpectedExits, answers: senders.responses, imports: imports.outcomes })
    const plan = planKills(KILLS, random)
    try {
      await killAll({ service, senders, imports }, plan, (kill) => story.kills.push(kill))
    } finally {
      story['longestSilence'] = senders.longestSilence()
      await senders.stop()
      await imports.done()
    }
    story['sentAgain'] = senders.countRepeats()
    story['msToDrain'] = await until(
      async () => (await service.withStore(isDrained)) === true,
      WAIT_TIMEOUT_MS,
    )
    const marks: Marks = {
      acknowledged: new Set([...senders.acknowledged, ...imports.marks]),
      sent: new Set([...senders.sent, ...imports.marks]),
    }
    const begun = performance.now()
    const store = (await service.openStore())!
    const found = await compareMarks(store, id, marks)
    Object.assign(story, { found, imported: imports.marks.size })
    expect(found).toMatchObject({ lost: [], doubled: [], unknown: [] })
    await expectConsistent(store, id)
    await store.close()
    story['msToCheck'] = Math.round(performance.now() - begun)
    // The service may exit by itself for one reason only: an import had the store to itself.
    expect(unexpectedExits.filter((line) => !line.includes(' is in use by '))).toEqual([])
  } finally {
    story['exit'] = await service.stop()
  }
  expect(story['exit']).toBe(0)
}

test(
  `with ${KILLS} kills`,
  async () => {
    const story: Story = { seed: SEED, kills: [] }
    const printStory = (): boolean => process.stderr.write(`${JSON.stringify(story)}\n`)
    try {
      await run(story)
    } catch (error) {
      printStory()
      throw error
    }
    if (process.env['KILLS'] !== undefined) printStory()
  },
  240_000 + KILLS * WAIT_TIMEOUT_MS,
)
