/** The Express layer and the functions find the same errors in bodies, and fill in the same defaults. */
import { describe, expect, test } from '@jest/globals'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { AnyBody } from '../../src/analytics/operation.js'
import { findTooDeepFilter } from '../../src/analytics/request/filter-limits.js'
import { readSpecs, type SpecName } from '../../src/contract/spec.js'
import { createListErrors } from '../../src/http/validation/compile-bodies.js'
import { createValidator } from '../../src/http/validation/express-validator.js'
import { prepareDocument } from '../../src/http/validation/prepare-document.js'
import { QUERY_CASES } from '../corpus/queries.js'
import { BATCH, QUERY } from './contract-app.js'

const EVENTS = '/v1/events'

interface Example {
  readonly value?: unknown
  readonly $ref?: string
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly requestBody: {
            readonly content: {
              readonly 'application/json': { readonly examples: Readonly<Record<string, Example>> }
            }
          }
        }
      }
    >
  >
  readonly components: { readonly examples: Readonly<Record<string, Example>> }
}

interface Outcome {
  /** What the body has become. */
  readonly body: unknown
  readonly errors: readonly unknown[]
}

const specs = readSpecs()

/** Creates what validates bodies in both ways. */
function createBoth(name: SpecName) {
  const prepared = prepareDocument(specs[name].document)
  const listErrors = createListErrors(prepared)
  const validator = createValidator(prepared, { validateResponses: false })
  const app = express()
  app.use(validator, accept, handleError)
  return {
    byFunction: (path: string, original: unknown): Outcome => {
      const body = structuredClone(original)
      const errors = listErrors(path, body).map(({ instancePath, keyword, message, params }) => {
        const { missingProperty, additionalProperty, allowedValues } = params as {
          readonly missingProperty?: string
          readonly additionalProperty?: string
          readonly allowedValues?: readonly unknown[]
        }
        const property = missingProperty ?? additionalProperty
        return {
          path: `/body${instancePath}${property === undefined ? '' : `/${property}`}`,
          message: keyword === 'enum' ? `${message!}: ${allowedValues!.join(', ')}` : message,
          errorCode: `${keyword}.openapi.validation`,
        }
      })
      return { body, errors }
    },
    byMiddleware: (path: string, original: unknown) =>
      new Promise<Outcome>((resolve) => {
        const body = structuredClone(original)
        const request = new IncomingMessage(new Socket())
        const headers = { 'content-type': 'application/json' }
        Object.assign(request, { method: 'POST', url: path, headers, body })
        const response = new ServerResponse(request)
        response.on('outcome', (errors: readonly unknown[]) => resolve({ body, errors }))
        app(request, response)
      }),
  }
}

const accept: RequestHandler = (_request, response) => response.emit('outcome', [])

const handleError: ErrorRequestHandler = (
  { errors }: { readonly errors: readonly unknown[] },
  _request,
  response,
  _next,
) => response.emit('outcome', errors)

const both = { openapi: createBoth('openapi'), collector: createBoth('collector') }

/** Compares both ways for some bodies. */
async function compare(name: keyof typeof both, path: string, bodies: readonly unknown[]) {
  const { byFunction, byMiddleware } = both[name]
  const outcomes = await Promise.all(bodies.map((body) => byMiddleware(path, body)))
  expect(outcomes).toEqual(bodies.map((body) => byFunction(path, body)))
}

/** Lists the example bodies of a contract, by path. */
const examples = (['openapi', 'collector'] as const).flatMap((name) => {
  const { paths, components } = specs[name].document as unknown as Document
  return Object.entries(paths).flatMap(([path, { post }]) => {
    const given = Object.entries(post?.requestBody.content['application/json'].examples ?? {})
    return given.map(([title, example]) => {
      const { value } = components.examples[example.$ref?.split('/').at(-1) ?? ''] ?? example
      return [name, path, title, path === EVENTS ? normalizeEvents(value) : value] as const
    })
  })
})

/** Converts a body to the form in which the collector validates it. */
function normalizeEvents(body: unknown): unknown {
  if (Array.isArray(body)) return { events: body }
  return 'events' in (body as object) ? body : { events: [body] }
}

const WRONG: readonly unknown[] = [null, -0.5, Infinity, 'x', {}, ['x', 'x']]

/** Lists the copies of a value in which one part of it is wrong, missing or unknown. */
function edit(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return WRONG
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    const edited = items.flatMap((item, i) => edit(item).map((wrong) => items.with(i, wrong)))
    return [...WRONG, ...edited, items.slice(1), [...items, 5], [...items, ...items]]
  }
  const record = value as Readonly<Record<string, unknown>>
  const edited = Object.entries(record).flatMap(([key, inner]) => {
    const left = Object.entries(record).filter(([other]) => other !== key)
    return [Object.fromEntries(left), ...edit(inner).map((wrong) => ({ ...record, [key]: wrong }))]
  })
  return [...WRONG, ...edited, { ...record, 'a/b~': 1 }]
}

describe('the examples of the contracts, and copies with one thing wrong', () => {
  test.each(examples)('%s %s: %s', (name, path, _, body) =>
    compare(name, path, [body, ...edit(body)]),
  )
})

test('the wrong queries of the corpus', async () => {
  const all = QUERY_CASES.flatMap((draft) => {
    const { path, body } = draft({ key: '', token: '' })
    return path === QUERY && typeof body === 'string' ? [JSON.parse(body) as AnyBody] : []
  })
  // Schemas are not to see filters that lie too deep in others.
  const bodies = all.filter(({ filters }) => findTooDeepFilter(filters) === undefined)
  expect(bodies.length).toBeGreaterThan(400)
  await compare('openapi', QUERY, bodies)
  await compare('openapi', BATCH, [{ queries: bodies.map((body, i) => ({ id: `${i}`, body })) }])
})
