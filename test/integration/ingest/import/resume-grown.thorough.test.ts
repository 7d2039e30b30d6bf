/** Imports of sources that have grown: only new rows are loaded. */
import { expect, test } from '@jest/globals'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts } from '../../../support/store/facts.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

/** Lines of equal length, so that chunks of `CHUNK` bytes have two. */
const event = (n: number): object => ({
  timestamp: `2026-01-31T10:${String(10 + n)}:00Z`,
  user_id: `u${n % 2}`,
})
const events = (count: number): object[] => Array.from({ length: count }, (_, n) => event(n))
const CHUNK = 2 * toLines([event(0)]).length

const counts = (events: number, duplicates = 0, rejected = 0) => ({
  received: events + duplicates + rejected,
  events,
  duplicates,
  rejected,
})

const line = (n: number): string => JSON.stringify(event(n))

interface Growth {
  readonly what: string
  readonly chunkSize?: number
  readonly texts: readonly string[]
  /** One report per import. */
  readonly want: readonly ReturnType<typeof counts>[]
}

test.each<Growth>([
  {
    what: 'more lines at the end',
    chunkSize: CHUNK,
    texts: [toLines(events(3)), toLines(events(5)), toLines(events(6)), toLines(events(6))],
    want: [counts(3), counts(2, 3), counts(1, 5), counts(0, 6)],
  },
  {
    what: 'a line end after the last line',
    texts: [`${line(0)}\n${line(1)}\n${line(2)}`, toLines(events(3)), toLines(events(3))],
    want: [counts(3), counts(0, 3), counts(0, 3)],
  },
  {
    what: 'a line end after the last line, and more lines',
    chunkSize: (3 * CHUNK) / 2,
    texts: [`${line(0)}\n${line(1)}`, `${toLines(events(4))}bad`, `${toLines(events(4))}bad`],
    want: [counts(2), counts(2, 2, 1), counts(0, 4, 1)],
  },
  {
    what: 'a last line that is continued',
    texts: [`${line(0)}\n${line(1).slice(0, -3)}`, toLines(events(3)), toLines(events(3))],
    want: [counts(1, 0, 1), counts(2, 1), counts(0, 3)],
  },
  {
    what: 'a last line that is continued again and again',
    texts: [5, 9, 20]
      .map((at) => toLines(events(3)) + line(3).slice(0, at))
      .concat(toLines(events(4))),
    want: [counts(3, 0, 1), counts(0, 3, 1), counts(0, 3, 1), counts(1, 3)],
  },
  {
    what: 'a last row that changes when it is completed',
    texts: ['{"half\n', toLines(events(2))].map((end) => toLines(events(2)) + end),
    want: [counts(2, 0, 1), counts(2, 2)],
  },
])(
  'of a source with $what only what is new is loaded',
  async ({ texts, want, chunkSize = 100 * CHUNK }) => {
    const project = await newProject(database.store)
    for (const [n, text] of texts.entries()) {
      const { report, rejections } = await importLines(database.store, text, {
        projectId: project.id,
        chunkSize,
      })
      expect({ n, ...report }).toMatchObject({ n, ...want[n] })
      const bad = text.split('\n').findIndex((row) => row !== '' && !row.endsWith('}'))
      expect({ n, rows: rejections.map(({ row }) => row) }).toEqual({
        n,
        rows: bad === -1 ? [] : [bad + 1],
      })
    }
    await expectConsistentFacts(database.store, project.id)
  },
)
