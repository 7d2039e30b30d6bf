/** Ranges of the stream are cut by rows and bytes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { nameRange, parseRange } from '../../../../src/ingest/loader/load-source.js'
import { findNextRange } from '../../../../src/ingest/loader/next-range.js'
import { moveCursor } from '../../../../src/ingest/loader/stream.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { feed } from '../../../support/store/stream.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

test('ranges take whole blocks while they fit, cut a block that does not, and leave no row out', async () => {
  const { store } = database
  const { writer } = store
  // Blocks of 3, 2, 4 and 1 rows; each line has 100 bytes, and one has 1,000.
  for (const lengths of [[100, 100, 100], [100, 100], [100, 1_000, 100, 100], [100]]) {
    await feed(
      store,
      'none',
      lengths.map((length) => 'x'.repeat(length)),
    )
  }
  const cases = [
    { limits: { rows: 100, bytes: 10_000 }, want: ['0-4'] },
    { limits: { rows: 5, bytes: 10_000 }, want: ['0-2', '2-4'] },
    { limits: { rows: 100, bytes: 500 }, want: ['0-2', '2-2.1', '2.1-2.2', '2.2-4'] },
    {
      limits: { rows: 2, bytes: 10_000 },
      want: ['0-0.2', '0.2-1', '1-2', '2-2.2', '2.2-3', '3-4'],
    },
    {
      limits: { rows: 1, bytes: 1 },
      want: [
        '0-0.1',
        '0.1-0.2',
        '0.2-1',
        '1-1.1',
        '1.1-2',
        '2-2.1',
        '2.1-2.2',
        '2.2-2.3',
        '2.3-3',
        '3-4',
      ],
    },
  ]
  let load = 1_000
  for (const { limits, want } of cases) {
    await moveCursor(writer, { block: 0, rows: 0 }, (load += 1))
    const found: string[] = []
    for (;;) {
      const next = await findNextRange(writer, limits)
      if (next === undefined) break
      const range = parseRange(next.batch)!
      expect(nameRange(range)).toBe(next.batch)
      found.push(next.batch.replace('stream-', ''))
      await moveCursor(writer, range.upTo, (load += 1))
    }
    expect({ limits, found }).toEqual({ limits, found: want })
  }
})
