/** The disk of the store: when it is short of space, and what is said about it. */
import { expect, test } from '@jest/globals'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import { isShort, watchDisk, type DiskSpace } from '../../../../src/ingest/inbox/disk-space.js'
import { createLogger } from '../../../../src/lib/log.js'
import { until } from '../../../support/until.js'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

test.each<DiskSpace & { wasShort?: boolean; want: boolean }>([
  { free: 0, total: GIB, want: true },
  // A small disk keeps 5 % free.
  { free: 50 * MIB, total: 1_000 * MIB, want: false },
  { free: 50 * MIB - 1, total: 1_000 * MIB, want: true },
  // A large one keeps 2 GiB free.
  { free: 2 * GIB, total: 1_000 * GIB, want: false },
  { free: 2 * GIB - 1, total: 1_000 * GIB, want: true },
  { free: 2 * GIB - 1, total: 40 * GIB, want: true },
  { free: 2 * GIB - 1, total: 39 * GIB, want: false },
  // It has enough again with a fifth more.
  { free: 2 * GIB, total: 1_000 * GIB, wasShort: true, want: true },
  { free: 2.4 * GIB, total: 1_000 * GIB, wasShort: true, want: false },
  { free: 59 * MIB, total: 1_000 * MIB, wasShort: true, want: true },
  { free: 60 * MIB, total: 1_000 * MIB, wasShort: true, want: false },
])('$free bytes free of $total: short $want', ({ free, total, wasShort, want }) => {
  expect(isShort({ free, total }, wasShort)).toBe(want)
})

test('a disk that is short of space is logged once, and so is its recovery', async () => {
  const lines: string[] = []
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) })
  let free: number | undefined
  let reads = 0
  const query = (() => {
    reads++
    return free === undefined
      ? Promise.reject(new Error('the store does not answer'))
      : Promise.resolve({ rows: [{ free, total: 1_000 }], total: 1 })
  }) as unknown
  const watch = watchDisk({ query } as Connection, logger, 5)
  const seen: object[] = []
  for (const next of [undefined, 500, 40, 41, 55, undefined, 70, 80]) {
    free = next
    // The next reading has ended when the one after it begins.
    const before = reads
    await until(() => reads > before + 1)
    let code: string | undefined
    try {
      watch.requireSpace()
    } catch (error) {
      code = `${(error as { code: string }).code} ${JSON.stringify((error as { headers: object }).headers)}`
    }
    seen.push([next, watch.readFreeBytes(), code])
  }
  watch.stop()
  const refused = 'SERVICE_UNAVAILABLE {"Retry-After":"30"}'
  expect(seen).toEqual([
    [undefined, undefined, undefined],
    [500, 500, undefined],
    [40, 40, refused],
    [41, 41, refused],
    [55, 55, refused],
    [undefined, 55, refused],
    [70, 70, undefined],
    [80, 80, undefined],
  ])
  expect(
    lines.map((line) => {
      const { level, freeBytes, totalBytes, msg } = JSON.parse(line) as Record<string, unknown>
      return [level, freeBytes, totalBytes, msg]
    }),
  ).toEqual([
    ['error', 40, 1_000, 'the disk of the store is almost full: events are refused'],
    ['info', 70, 1_000, 'the disk of the store has space again: events are accepted'],
  ])
})

test('a store that hangs neither blocks nor changes the judgment', async () => {
  let reads = 0
  const query = (() => {
    reads++
    return new Promise(() => undefined)
  }) as unknown
  const watch = watchDisk({ query } as Connection, createLogger('silent'), 5)
  await until(() => reads > 0)
  expect(() => watch.requireSpace()).not.toThrow()
  expect(watch.readFreeBytes()).toBeUndefined()
  watch.stop()
})
