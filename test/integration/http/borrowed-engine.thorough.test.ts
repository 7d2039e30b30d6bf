/** A service that starts while a command runs the engine of the data folder uses that engine, and replaces it. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { getEngineDir } from '../../../src/clickhouse/embedded/engine-dir.js'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { startEngine } from '../../../src/clickhouse/embedded/engine.js'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { startServe } from '../../support/cli/serve.js'
import { select } from '../../support/store/facts.js'
import { until } from '../../support/until.js'
import { newProject } from '../../support/world/world.js'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-borrowed-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const readHolder = async () => (await readEngineFile(getEngineDir(dataDir)))?.holder

test('it collects on the engine of a command, and on its own once the command ends', async () => {
  const engine = await startEngine({ dataDir, purpose: 'tallyhouse rollups rebuild' })
  const service = startServe({ DATA_DIR: dataDir })
  const address = await service.listening()
  const ofCommand = connectStore(engine.endpoint)
  const { id, token } = await newProject(ofCommand)
  await ofCommand.close()
  const send = async (name: string): Promise<number> => {
    const body = JSON.stringify({ token, name, event_id: name, user_id: 'u1' })
    return (await fetch(`${address}/v1/events`, { method: 'POST', body })).status
  }
  expect(await send('first')).toBe(202)
  expect(await readHolder()).toEqual({ pid: process.pid, purpose: 'tallyhouse rollups rebuild' })

  await engine.stop()
  await service.logged(/"msg":"engine started"/)
  expect(await readHolder()).toEqual({ pid: service.child.pid, purpose: 'tallyhouse serve' })
  await until(async () => (await send('second')) === 202)

  const own = connectStore(engine.endpoint)
  const listNames = (): Promise<readonly object[]> =>
    select(own, sql`SELECT name FROM events WHERE project_id = ${string(id)} ORDER BY name`)
  await until(async () => (await listNames()).length === 2)
  expect(await listNames()).toEqual([{ name: 'first' }, { name: 'second' }])
  await own.close()
  service.child.kill('SIGTERM')
  expect(await service.exit).toBe(0)
})
