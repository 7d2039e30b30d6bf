/** docs/operations.md lists every metric, and no other. */
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { packagePath } from '../../../src/lib/package-path.js'
import { createInstruments } from '../../../src/telemetry/instruments.js'

test('the metrics in the docs are those of the service', async () => {
  const instruments = createInstruments({ version: '1', countDroppedLines: () => 0 })
  instruments.load('home').watchInbox(() => ({ waitingRows: 0, oldestWaitingMs: 0 }))
  instruments.store('home').watchDisk(() => 0)
  instruments.store('home').onAlone(0)
  instruments.http.watchQueries(() => ({ running: 0, waiting: 0 }))
  instruments.http.watchResponses(() => 0)
  const text = await instruments.write()
  instruments.close()
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  const docs = readFileSync(packagePath('docs/operations.md'), 'utf8')
  const listed = [...docs.matchAll(/^\| `((?:tallyhouse|process)_\w+)` /gm)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(names.toSorted())
})
