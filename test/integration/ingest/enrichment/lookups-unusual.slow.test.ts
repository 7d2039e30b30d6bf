/** Unusual user agents and referrers: their events are loaded like others, or rejected. */
import { expect, test } from '@jest/globals'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, select } from '../../../support/store/facts.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const at = (n: number, fields: object = {}): object => ({
  timestamp: new Date(Date.UTC(2026, 0, 31, 10) + n).toISOString(),
  user_id: `u${n}`,
  ...fields,
})

const HOSTILE = [
  `it's "quoted" \\ \\\\ \\n \\'`,
  'line\nbreak\r\n\ttab \u001b[31m \u0015 \u001f',
  `'); DROP TABLE events; --`,
  '{p0:String} %s ${x} {{x}}',
  '\u2028\u2029\uFEFF\u202E',
  '😀'.repeat(300),
  'x'.repeat(100_000),
  `Mozilla/5.0 ${'('.repeat(50_000)}`,
  `Mozilla/5.0 (${'a;'.repeat(50_000)}`,
  'constructor',
  '__proto__',
  '[1,2]',
  'null',
  'NaN',
  ' ',
]

test.each(['user_agent', 'referrer_url'] as const)(
  'unusual texts in %s do no harm',
  async (field) => {
    const { store } = database
    const texts = HOSTILE.flatMap((text) => [
      text,
      `Mozilla/5.0 (${text}) ${FIREFOX}`,
      `https://${text}/${text}`,
    ])
    const file = await newProject(store)
    const { report } = await importLines(
      store,
      toLines(texts.map((text, n) => at(n, { [field]: text }))),
      {
        projectId: file.id,
      },
    )
    expect(report).toMatchObject({
      received: texts.length,
      // A row has at most 32 kB, and a URL 8,192 characters.
      rejected: texts.filter((text) => text.length > 8_192).length,
      excluded: 0,
      duplicates: 0,
    })
    expect(report.events).toBeGreaterThan(10)
    await expectConsistentFacts(store, file.id)
    const { id } = await newProject(store)
    const invalid = ['a\\u0000b', '\\ud83d', '\\ude00\\ud83d', 'a\0b'].map(
      (text) => `{"user_id":"v","${field}":"${text}"}`,
    )
    await feed(store, id, [
      ...invalid,
      ...HOSTILE.map((text, n) => at(n, { [field]: text })),
      at(99),
    ])
    await loadInbox(store)
    await expectConsistentFacts(store, id)
    const users = await select<{ user_id: string }>(
      store,
      sql`SELECT user_id FROM users WHERE project_id = ${string(id)}`,
    )
    const userIds = users.map(({ user_id }) => user_id)
    expect(userIds).toContain('u99')
    expect(userIds).not.toContain('v')
  },
)
