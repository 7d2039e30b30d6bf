/** Lines of access logs become pageviews. */
import { describe, expect, test } from '@jest/globals'
import { readText, invalidLine } from './support.js'

const START = '192.0.2.7 - - [10/Oct/2000:13:55:36 -0700]'
const EVENT = { timestamp: '2000-10-10T13:55:36-07:00', ip: '192.0.2.7' }
const combined = (target: string, referrer = '-', agent = 'Agent/1', status = 200): string =>
  `${START} "GET ${target} HTTP/1.1" ${status} 2326 "${referrer}" "${agent}"`

async function one(line: string, origin?: string): Promise<unknown> {
  const { lines } = await readText(`${line}\n`, { format: 'log', origin })
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0]!)
}

describe('served pages', () => {
  test.each<[string, string, object]>([
    ['combined', combined('/a'), { user_agent: 'Agent/1', path: '/a' }],
    ['common', `${START} "GET /a HTTP/1.0" 200 -`, { path: '/a' }],
    ['304', combined('/a', '-', 'A', 304), { user_agent: 'A', path: '/a' }],
    [
      'a user',
      combined('/a').replace('- - [', '- Jo Doe ['),
      { user_agent: 'Agent/1', path: '/a' },
    ],
    ['more fields behind', `${combined('/a')} "-" 0.003`, { user_agent: 'Agent/1', path: '/a' }],
    ['a carriage return', `${combined('/a')}\r`, { user_agent: 'Agent/1', path: '/a' }],
    ['HTTP/0.9', `${START} "GET /a" 200 1`, { path: '/a' }],
    ['no user agent', combined('/a', '-', '-'), { user_agent: '-', path: '/a' }],
    ['escapes', combined('/%7Ea/%C3%BC'), { user_agent: 'Agent/1', path: '/%7Ea/%C3%BC' }],
    ['raw blanks', combined('/a b'), { user_agent: 'Agent/1', path: '/a b' }],
    ['a query', combined('/a?b=/c.png'), { user_agent: 'Agent/1', path: '/a' }],
    ['a dot in a folder', combined('/v1.css/a'), { user_agent: 'Agent/1', path: '/v1.css/a' }],
    ['a page of a name', combined('/a.pdf.html'), { user_agent: 'Agent/1', path: '/a.pdf.html' }],
    ['asked of a proxy', combined('http://x.example/a?b'), { user_agent: 'Agent/1', path: '/a' }],
    [
      'a referrer',
      combined('/a', 'https://x.example/?q=1'),
      { user_agent: 'Agent/1', referrer_url: 'https://x.example/?q=1', path: '/a' },
    ],
    ['a referrer that is no URL', combined('/a', '/b'), { user_agent: 'Agent/1', path: '/a' }],
    [
      'utm values',
      combined('/a?utm_source=a+b&utm_medium=%C3%BC&utm_term=&x=1'),
      { user_agent: 'Agent/1', path: '/a', utm_source: 'a b', utm_medium: 'ü' },
    ],
    [
      'escaped quotes and bytes',
      combined('/\\"a', 'https://x.example/\\xc3\\xbc', 'a \\"b\\" \\\\x41 \\xff\\x00 \\t'),
      {
        user_agent: 'a "b" \\x41 \ufffd\ufffd \t',
        referrer_url: 'https://x.example/ü',
        path: '/"a',
      },
    ],
    [
      'a long line',
      combined('/a', '-', 'x'.repeat(100_000)),
      { user_agent: 'x'.repeat(100_000), path: '/a' },
    ],
  ])('%s', async (_, line, want) => {
    expect(await one(line)).toEqual({ ...EVENT, ...want })
  })

  test('an origin makes the URL complete', async () => {
    expect(await one(combined('/a?utm_source=x&gclid=1'), 'https://example.com')).toEqual({
      ...EVENT,
      user_agent: 'Agent/1',
      url: 'https://example.com/a?utm_source=x&gclid=1',
    })
  })

  test.each(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'])(
    '%s',
    async (month) => {
      const line = `::1 - - [01/${month}/2026:00:00:00 +0530] "GET / HTTP/2.0" 200 0`
      const number = new Date(`${month} 1, 2026 UTC`).toISOString().slice(5, 7)
      expect(await one(line)).toEqual({
        timestamp: `2026-${number}-01T00:00:00+05:30`,
        ip: '::1',
        path: '/',
      })
    },
  )
})

test('all other lines are skipped, and counted', async () => {
  const lines = [
    combined('/a.css'),
    combined('/a.JPG?x'),
    combined('/favicon.ico'),
    combined('/a', '-', 'A', 404),
    combined('/a', '-', 'A', 206),
    combined('/a').replace('GET', 'POST'),
    combined('/a').replace('GET', 'HEAD'),
    combined('*'),
    `${START} "-" 408 -`,
    `${START} "\\x16\\x03\\x01" 400 226 "-" "-"`,
    `${START} "" 400 0`,
  ]
  const text = ['', ...lines, ' ', combined('/a')].join('\n')
  const read = await readText(text)
  expect(read).toEqual({
    format: 'log',
    identity: '["log",[],""]',
    lines: ['', ...lines.map(() => ''), '', expect.stringContaining('"path":"/a"')],
    skipped: lines.length,
  })
})

test.each([
  'nope',
  `${START} "GET /a HTTP/1.1" 200 1 "-" "not closed`,
  `${START} "GET /a HTTP/1.1" 200 1 "-"`,
  `${START} "GET /a HTTP/1.1" 200`,
  combined('/a').replace('Oct', 'Okt'),
  combined('/a').replace(' -0700', ''),
  combined('/a"b'),
])('%s is not a line of a log', async (line) => {
  const { lines, skipped } = await readText(`${combined('/a')}\n${line}\n${combined('/b')}`)
  expect(lines).toEqual([
    expect.stringContaining('"path":"/a"'),
    invalidLine('is not a line of the Common or Combined Log Format', line),
    expect.stringContaining('"path":"/b"'),
  ])
  expect(skipped).toBe(0)
})

test('a line made to cause backtracking is parsed in linear time', async () => {
  const evil = `${START} "GET ${'\\"'.repeat(200_000)}`
  const { lines } = await readText(`${evil}\n${'[ '.repeat(200_000)}\n`, { format: 'log' }, 65_536)
  expect(lines.map((line) => line.charAt(0))).toEqual(['\x15', '\x15'])
})
