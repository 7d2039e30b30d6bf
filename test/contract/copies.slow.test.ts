/** The copies for importers are valid, and accept what the contracts accept: all as one document, and OpenAPI 3.0. */
import { describe, expect, test } from '@jest/globals'
import express, { type Express, type RequestHandler } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import request from 'supertest'
import { convertToOpenApi30 } from '../../src/contract/convert-document.js'
import { FORMATS } from '../../src/contract/formats.js'
import { mergeDocuments } from '../../src/contract/merge-documents.js'
import { readSpecs, type SpecDocument } from '../../src/contract/spec.js'
import { PROJECT, QUERY } from './contract-app.js'
import { document, examplesOf, listNodes } from './document.js'

const specs = readSpecs()
const { openapi, collector, management } = specs
const whole = mergeDocuments(specs)
const copies = {
  'openapi-3.0': convertToOpenApi30(openapi.document),
  'collector-3.0': convertToOpenApi30(collector.document),
  'management-3.0': convertToOpenApi30(management.document),
  'openapi-all-3.0': convertToOpenApi30(whole),
}
const EVENTS = '/v1/events'

interface Parts {
  readonly paths: Readonly<Record<string, unknown>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
const partsOf = (copy: SpecDocument) => copy as unknown as Parts

/**
 * What the validator reads in a way of its own: a discriminator, without which the union says the same, and the `id` of an example, which
 * it takes for the name of a schema.
 */
const MISREAD: ReadonlySet<string> = new Set(['discriminator', 'example', 'examples'])
const omitMisread = (copy: SpecDocument): unknown =>
  JSON.parse(JSON.stringify(copy, (key, value: unknown) => (MISREAD.has(key) ? undefined : value)))

/** Creates an app that checks requests and responses by a copy, and the copy itself by the schema of OpenAPI 3.0. */
function appOf(copy: SpecDocument): Express {
  const handlers = OpenApiValidator.middleware({
    apiSpec: omitMisread(copy) as never,
    formats: FORMATS,
    validateSecurity: false,
    validateResponses: true,
  }) as readonly RequestHandler[]
  const responses = new Map<string, unknown>([
    ...examplesOf(document.paths[QUERY]!['post']!.responses['200']!).map(
      ([name, { value }]) => [name, value] as const,
    ),
    ['project', examplesOf(document.paths[PROJECT]!['get']!.responses['200']!)[0]![1].value],
  ])
  const app = express().use(express.json(), ...handlers)
  app.post(QUERY, (req, res) => void res.json(responses.get(req.get('X-Request-Id') ?? '')))
  app.get(PROJECT, (_req, res) => void res.json(responses.get('project')))
  app.post(EVENTS, (_req, res) => void res.status(202).json({ accepted: 1 }))
  app.use(((error: { status?: number; message: string }, _req, res, _next) => {
    res.status(error.status ?? 500).send(error.message)
  }) as express.ErrorRequestHandler)
  return app
}

describe('OpenAPI 3.0', () => {
  test.each(Object.entries(copies))('nothing of 3.1 is left in %s', (_, copy) => {
    expect(copy).toMatchObject({ openapi: '3.0.3' })
    for (const { type, ...node } of listNodes(copy)) {
      expect(Array.isArray(type)).toBe(false)
      const names = Object.keys(node)
      const marks = names.filter((name) => name.startsWith('x-') && name !== 'x-public-dashboard')
      expect(marks).toEqual([])
      if ('$ref' in node) expect(names).toEqual(['$ref'])
      for (const name of ['const', 'prefixItems', 'propertyNames', 'unevaluatedProperties']) {
        expect(names).not.toContain(name)
      }
      if (type !== undefined && type !== 'array') expect(names).not.toContain('items')
    }
  })

  const app = appOf(copies['openapi-all-3.0'])

  test.each(examplesOf(document.paths[QUERY]!['post']!.requestBody!))(
    'the query "%s" and its response are valid',
    async (name, { value }) => {
      const sent = request(app).post(QUERY).set('X-Request-Id', name)
      const { status, text } = await sent.send(value as object)
      expect({ status, text }).toEqual({ status: 200, text: expect.stringContaining('"period"') })
    },
  )

  test('the project is valid', async () => {
    expect((await request(app).get(PROJECT)).status).toBe(200)
  })

  test.each(
    Object.entries(partsOf(copies['collector-3.0']).components['examples']!).map(
      ([name, example]) => [name, (example as { readonly value: object }).value] as const,
    ),
  )('the events "%s" are valid', async (_, value) => {
    const { status, text } = await request(app).post(EVENTS).send(value)
    expect({ status, text }).toEqual({ status: 202, text: '{"accepted":1}' })
  })

  test('a reference or null is what it refers to, nullable', () => {
    const { ManagedProject: project } = partsOf(copies['management-3.0']).components['schemas']!
    expect(project).toMatchObject({
      properties: { formerToken: { type: 'object', nullable: true, required: ['token', 'until'] } },
    })
  })

  test.each([
    ['an unknown member', QUERY, { date_range: 'today', bogus: 1 }],
    ['a period with three ends', QUERY, { date_range: ['2026-01-01', '2026-01-02', '2026-01-03'] }],
    ['another type of filter', QUERY, { date_range: 'today', filters: [{ type: 'x' }] }],
    [
      'a member of another filter',
      QUERY,
      { date_range: 'today', filters: [{ type: 'page', value: [] }] },
    ],
    ['an unknown field of an event', EVENTS, { events: [{ bogus: 1 }] }],
  ])('%s is refused, as by the original', async (_, path, body) => {
    expect((await request(app).post(path).send(body)).status).toBe(400)
  })
})

describe('all contracts as one', () => {
  const { paths, components } = partsOf(whole)
  const originals = Object.values(specs).map(({ document }) => partsOf(document))

  test('it has the operations of all', () => {
    expect(Object.keys(paths)).toEqual(originals.flatMap((one) => Object.keys(one.paths)))
  })

  test('each reference leads to a component, and each component comes from one of them', () => {
    const references = listNodes(whole).flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref]))
    for (const reference of references as string[]) {
      const [, , kind = '', name = ''] = reference.split('/')
      expect(components[kind]).toHaveProperty([name])
    }
    expect(components['schemas']).toMatchObject(partsOf(openapi.document).components['schemas']!)
    const merged = Object.keys(components['schemas']!)
    for (const [prefix, { document: one }] of [
      ['Collector', collector],
      ['Management', management],
    ] as const) {
      const own = Object.keys(partsOf(one).components['schemas']!)
      expect(
        own.filter((name) => !merged.includes(name) && !merged.includes(prefix + name)),
      ).toEqual([])
    }
  })

  test('operations name security schemes that mean the same in all contracts', () => {
    for (const { components: own } of originals) {
      expect(components['securitySchemes']).toMatchObject(own['securitySchemes'] ?? {})
    }
  })

  test('what several define alike is shared, and what refers to something different is not', () => {
    expect(
      Object.keys(components['headers']!).filter((name) => name.includes('RequestId')),
    ).toEqual(['RequestId'])
    expect(components['schemas']!['CollectorErrorResponse']).toMatchObject({
      properties: { error: { $ref: '#/components/schemas/CollectorApiError' } },
    })
    expect(components['schemas']!['ManagementApiError']).toBeDefined()
  })
})
