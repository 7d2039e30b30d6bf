/** The law of tools: each call is the answer that the API gives alone, over HTTP and over standard input and output. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import fc from 'fast-check'
import { OPERATIONS } from '../../../src/analytics/operations/list.js'
import { chooseTools } from '../../../src/http/mcp/tools.js'
import { listTools } from '../../../src/mcp/list-tools.js'
import { readSpec } from '../../../src/contract/spec.js'
import { PAGES } from '../../../src/http/site/docs/page-list.js'
import { runCli } from '../../support/cli/cli.js'
import { question } from '../../support/arbitrary/questions.js'
import { call, connectHttp, connectStdio } from './mcp-clients.js'
import { post, startShops, type Shop, type Shops } from './shops.js'

let shops: Shops
const clients = new Map<string, Client>()

const TRANSPORTS = { HTTP: connectHttp, stdio: connectStdio }
type Form = keyof typeof TRANSPORTS
const FORMS = ['HTTP', 'stdio'] as const

beforeAll(async () => {
  shops = await startShops()
  for (const form of FORMS) {
    for (const shop of ['narrow', 'wide'] as const) {
      const client = await TRANSPORTS[form](shops.service.address, shops[shop].key)
      clients.set(`${form} ${shop}`, client)
    }
  }
})
afterAll(async () => {
  for (const client of clients.values()) await client.close()
  await shops.stop()
})

const getClient = (form: Form, shop: 'narrow' | 'wide' = 'narrow'): Client =>
  clients.get(`${form} ${shop}`)!

/** Asks the API without a tool. */
const ask = ({ key }: Pick<Shop, 'key'>, tool: string, args: object): Promise<Response> => {
  const headers = { Authorization: `Bearer ${key}` }
  if (tool === 'project') return fetch(`${shops.service.address}/v1/project`, { headers })
  const { operation = 'query', ...body } = args as { operation?: string }
  const path = operation === 'query' ? tool : `${operation}/${tool}`
  return post(shops.service, { key }, path, body)
}

const PERIOD = { date_range: ['2026-06-01', '2026-06-14'] }
const STEPS = [
  { filters: [] },
  { filters: [{ type: 'event', name: { operator: 'eq', value: 'signup' } }] },
]

/** Responses and refusals of every tool. */
const CALLS: readonly (readonly [tool: string, args: object])[] = [
  ['project', {}],
  [
    'query',
    { ...PERIOD, metrics: ['users', 'visits'], group_by: ['country'], compare: 'previous_period' },
  ],
  [
    'query',
    {
      date_range: 'all',
      group_by: ['interval:day'],
      include: { totals: true },
      then_by: ['country'],
    },
  ],
  ['query', { date_range: 'someday', limit: 0, filters: [{ type: 'os' }] }],
  ['query', { date_range: 'all', limit: 'all' }],
  ['query', {}],
  ['values', { ...PERIOD, field: 'country' }],
  ['values', { ...PERIOD, field: 'interval:day' }],
  ['retention', { ...PERIOD, interval: 'day', intervals: 3 }],
  ['retention', { ...PERIOD, interval: 'hour' }],
  ['funnel', { ...PERIOD, steps: STEPS, within: 86_400 }],
  ['funnel', { ...PERIOD, steps: [] }],
  [
    'batch',
    {
      queries: [
        { id: 'a', body: PERIOD },
        { id: 'b', operation: 'values', body: { ...PERIOD, field: 'country' } },
        { id: 'c', body: { date_range: 'never' } },
      ],
    },
  ],
  [
    'batch',
    {
      queries: [
        { id: 'a', body: PERIOD },
        { id: 'a', body: PERIOD },
      ],
    },
  ],
  ['batch', {}],
  ['explain', { date_range: 'never' }],
  ['explain', { operation: 'query', date_range: 'all', steps: [] }],
  ['explain', { ...PERIOD, operation: 'retention', interval: 'day' }],
  ['explain', { ...PERIOD, operation: 'retention', interval: 'hour' }],
  ['explain', { ...PERIOD, operation: 'funnel', steps: STEPS }],
  ['explain', { ...PERIOD, operation: 'funnel', limit: 1 }],
]
const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const RANDOM = fc
  .sample(question, { seed: SEED, numRuns: 8 })
  .map(({ asked }) => ['query', asked] as const)

describe.each(FORMS)('%s', (form) => {
  test('it says what it is, and lists the tools of the contract', async () => {
    const client = getClient(form)
    expect(client.getServerVersion()).toMatchObject({ name: 'tallyhouse', title: 'Tallyhouse' })
    expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {} })
    expect(client.getInstructions()).toContain('Users do not add up')
    const { tools } = await client.listTools()
    expect(tools).toEqual(listTools(readSpec('openapi').document, chooseTools(true)))
  })

  test('the pages of the documentation are resources, whose links are resources', async () => {
    const client = getClient(form)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(
      PAGES.map(({ markdownPath }) => `tallyhouse://${markdownPath}`),
    )
    const addresses = new Set(resources.map(({ uri }) => uri))
    for (const { uri, name, title, size, mimeType } of resources) {
      const { contents } = await client.readResource({ uri })
      const { pathname } = new URL(uri)
      const text = await (await fetch(shops.service.address + pathname)).text()
      expect(contents).toEqual([{ uri, mimeType: 'text/markdown', text }])
      expect([mimeType, name, size]).toEqual([
        'text/markdown',
        pathname.slice(1),
        Buffer.byteLength(text),
      ])
      expect(text).toContain(`# ${title}`)
      for (const [, link] of text.matchAll(/\]\((\/docs\/[^)#]+\.md)/g)) {
        expect(addresses).toContain(new URL(link!, uri).href)
      }
    }
    expect(await client.listResourceTemplates()).toEqual({ resourceTemplates: [] })
    for (const uri of ['tallyhouse:///docs/none.md', 'file:///etc/passwd', '/docs/limits.md']) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({
        code: -32_002,
        data: { uri },
      })
    }
  })

  test.each([
    ['answers and refusals', CALLS],
    ['random queries', RANDOM],
  ])('each call is the answer alone, on one shard and across two: %s', async (_, calls) => {
    for (const shop of ['narrow', 'wide'] as const) {
      for (const [tool, args] of calls) {
        const alone = await ask(shops[shop], tool, args)
        const text = await alone.text()
        expect(await call(getClient(form, shop), tool, args)).toEqual({
          isError: alone.status !== 200,
          ...(alone.status === 200
            ? {
                structured: JSON.parse(text) as unknown,
                text: 'The result is the structured content.',
              }
            : { structured: undefined, text }),
        })
      }
    }
  })

  test('an explanation has the plan and the statement', async () => {
    const { structured } = await call(getClient(form), 'explain', PERIOD)
    expect(structured).toMatchObject({
      query: PERIOD,
      plan: { reads: expect.any(Array) },
      statement: { parameters: expect.objectContaining({ p0: 'narrow' }) },
    })
  })

  test('a refusal names the fields, so that the next call can be right', async () => {
    const { text } = await call(getClient(form), 'query', {
      date_range: 'today',
      metrics: ['visitors'],
    })
    expect(JSON.parse(text)).toEqual({
      error: {
        code: 'VALIDATION_ERROR',
        message: expect.stringContaining('metrics.0 must be one of: users'),
        details: [{ field: 'metrics.0', message: expect.stringContaining('users') }],
        docs: '/docs/errors#validation_error',
      },
    })
  })

  test('arguments of a tool that has none are refused, and so are other tools', async () => {
    expect(JSON.parse((await call(getClient(form), 'project', { id: 'wide' })).text)).toEqual({
      error: {
        code: 'VALIDATION_ERROR',
        message: 'The request is not valid: id is not a known property.',
        details: [{ field: 'id', message: 'is not a known property' }],
        docs: '/docs/errors#validation_error',
      },
    })
    const explained = OPERATIONS.filter((operation) => operation.explained !== undefined)
    const oneOfExplained = `must be one of: ${explained.map(({ name }) => name).join(', ')}`
    expect(
      JSON.parse((await call(getClient(form), 'explain', { operation: 'batch' })).text),
    ).toEqual({
      error: {
        code: 'VALIDATION_ERROR',
        message: `The request is not valid: operation ${oneOfExplained}.`,
        details: [{ field: 'operation', message: oneOfExplained }],
        docs: '/docs/errors#validation_error',
      },
    })
    await expect(call(getClient(form), 'delete', {})).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('The tool must be one of: project, query'),
    })
  })
})

test('a key that is not valid: no connection over HTTP, and an error of each call over stdio', async () => {
  const { address } = shops.service
  await expect(connectHttp(address, 'th_none')).rejects.toThrow(/UNAUTHORIZED/)
  const client = await connectStdio(address, 'th_none')
  const { isError, text } = await call(client, 'project', {})
  await client.close()
  expect([isError, JSON.parse(text)]).toEqual([
    true,
    {
      error: {
        code: 'UNAUTHORIZED',
        message: 'The API key is missing or not valid.',
        docs: '/docs/errors#unauthorized',
      },
    },
  ])
})

test('over the limit of requests: 429 over HTTP, and over stdio an error that says when to try again', async () => {
  const service = await shops.start({ RATE_LIMIT: '3' })
  const { key } = shops.narrow
  // To connect takes two messages.
  const http = await connectHttp(service.address, key)
  const stdio = await connectStdio(service.address, key)
  try {
    expect((await call(http, 'project', {})).isError).toBe(false)
    await expect(call(http, 'project', {})).rejects.toMatchObject({ code: 429 })
    const { isError, text } = await call(stdio, 'project', {})
    expect([isError, JSON.parse(text)]).toEqual([
      true,
      {
        error: {
          code: 'RATE_LIMIT_EXCEEDED',
          message: expect.stringContaining('per minute'),
          docs: '/docs/errors#rate_limit_exceeded',
        },
        retry_after: expect.any(Number),
      },
    ])
  } finally {
    await http.close()
    await stdio.close()
    await service.stop()
  }
})

test('a service that is away is an error of the protocol, without the key', async () => {
  const client = await connectStdio('http://127.0.0.1:1', 'th_secret')
  const failed = await call(client, 'project', {}).catch(String)
  await client.close()
  expect(failed).toMatch(
    /^McpError: MCP error -32603: http:\/\/127\.0\.0\.1:1 does not respond: \w+$/,
  )
})

test('standard output has messages alone, and the process ends with its input', async () => {
  const env = { TALLYHOUSE_URL: shops.service.address, TALLYHOUSE_API_KEY: shops.narrow.key }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'project' } }
  const { code, stdout, stderr } = await runCli(
    ['mcp'],
    env,
    `${JSON.stringify(message)}\nno message\n`,
  )
  expect([code, stderr, stdout.split('\n').length]).toEqual([0, '', 2])
  expect(JSON.parse(stdout)).toMatchObject({
    id: 1,
    result: { structuredContent: { project: { id: 'narrow' } } },
  })
  expect(await runCli(['mcp'], {})).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tallyhouse: TALLYHOUSE_API_KEY must be set to an API key\n',
  })
})
