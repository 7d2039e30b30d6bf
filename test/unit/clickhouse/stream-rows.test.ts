/** The rows of a streamed response, which may break off or be damaged. */
import { expect, test } from '@jest/globals'
import type { Row } from '@clickhouse/client'
import { readRows } from '../../../src/clickhouse/stream-rows.js'

const ROWS = ['{"row":{"page":"/a"}}', '{"row":{"page":"/b"}}']
const END = '{"rows_before_limit_at_least":2}'

/** Parts of a response, as the client hands them over. */
async function* parts(lines: readonly string[]): AsyncGenerator<readonly Row[]> {
  for (const text of lines) {
    yield [{ text, json: () => JSON.parse(text) as never }]
    await Promise.resolve()
  }
}

/** Reads a response. Returns the pages, and the total or the name of the error. */
async function read(lines: readonly string[]) {
  const pages: string[] = []
  const rows = readRows<{ page: string }>(parts(lines))
  try {
    for (;;) {
      const next = await rows.next()
      if (next.done === true) return { pages, end: next.value }
      pages.push(...next.value.map(({ page }) => page))
    }
  } catch (error) {
    return { pages, end: (error as Error).name }
  }
}

test.each([
  ['is complete', [...ROWS, END], ['/a', '/b'], 2],
  ['reports its progress', ['{"progress":{}}', ...ROWS, END, '{"progress":{}}'], ['/a', '/b'], 2],
  ['has no end', ROWS, ['/a', '/b'], 'IncompleteResponseError'],
  ['is empty', [], [], 'IncompleteResponseError'],
  [
    'has a damaged row',
    [ROWS[0]!, '{"row":{\ufffdpage":"/b"}}', END],
    ['/a'],
    'StoreUnavailableError',
  ],
  [
    'has a damaged end',
    [...ROWS, END.replace('rows', '\ufffdows')],
    ['/a', '/b'],
    'IncompleteResponseError',
  ],
  ['has lines that run together', [ROWS.join('\ufffd'), END], [], 'StoreUnavailableError'],
  [
    'ends with an error',
    [ROWS[0]!, '{"exception":"Code: 241. DB::Exception: Too much. (MEMORY_LIMIT_EXCEEDED)"}'],
    ['/a'],
    'Error',
  ],
])('a response that %s', async (_what, lines, pages, end) => {
  expect(await read(lines)).toEqual({ pages, end })
})
