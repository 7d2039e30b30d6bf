/**
 * Programs that were written against the last release need no change: the compiler compares the contracts with those of the release,
 * in generated/released. Requests of the release must be requests of today, and responses of today responses of the release.
 */
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { packagePath } from '../../src/lib/package-path.js'
import { checkTypes } from '../support/check-types.js'

/**
 * What the compiler checks. The echo `query` is left out of responses: it has the forms of the request that it repeats. So are the
 * results in a batch of operations that came later: a batch has them only if it asks for them.
 */
const CHECKS = `
type Json<T> = T extends { readonly content: { readonly 'application/json': infer Body } } ? Body : null
type Request<O> = O extends { readonly requestBody: infer Body; readonly parameters: infer P } ? { body: Json<Body>; p: P } : { p: 0 }
type Later = Schemas[Exclude<keyof Schemas, keyof ReleasedSchemas> & \`\${string}Response\`]
type WithoutEcho<T> = T extends Later ? never : T extends readonly (infer Item)[] ? readonly WithoutEcho<Item>[] : T extends object ? { [Name in keyof T as Name extends 'query' ? never : Name]: WithoutEcho<T[Name]> } : T
type Responses<O> = O extends { readonly responses: infer R } ? { [Status in keyof R]: WithoutEcho<Json<R[Status]>> } : never
type Requests<Operations> = { [Name in keyof Operations]: Request<Operations[Name]> }
type AllResponses<Operations> = { [Name in keyof Operations]: Responses<Operations[Name]> }
declare const requests: Requests<Released>
requests satisfies { [Name in keyof Released]: Request<Present[Name]> }
declare const responses: AllResponses<Present>
responses satisfies AllResponses<Released>
`

/** Compares the types of a contract with those of the release; returns what breaks programs, a message each. */
function findBreaks(present: string, released: string): readonly string[] {
  const checks = `import type { components, operations as Present } from './present.js'
     type Schemas = components['schemas']
     import type { components as ReleasedComponents, operations as Released } from './released.js'
     type ReleasedSchemas = ReleasedComponents['schemas']
     ${CHECKS}`
  const texts = new Map([
    ['/checks.ts', checks],
    ['/present.d.ts', present],
    ['/released.d.ts', released],
  ])
  return checkTypes(texts, []).map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, '\n'),
  )
}

const readTypes = (file: string): string => readFileSync(packagePath(`generated/${file}`), 'utf8')

test.each(['openapi.d.ts', 'collector.d.ts'])('%s breaks no program of the release', (file) => {
  expect(findBreaks(readTypes(file), readTypes(`released/${file}`))).toEqual([])
})

test.each<[string, RegExp, string, RegExp]>([
  [
    'a type that a request may no longer have',
    /readonly city\?: string \| null;/,
    'readonly city?: string;',
    /city/,
  ],
  [
    'a member that a request must have',
    /readonly city\?:/,
    'readonly town: string; $&',
    /'town' is missing/,
  ],
  ['a response that lacks a member', /readonly accepted: number;/, '', /'accepted' is missing/],
  [
    'a response with another type',
    /readonly accepted: number;/,
    'readonly accepted: string;',
    /accepted/,
  ],
  ['an operation that is gone', /readonly sendEvents: \{/, 'readonly postEvents: {', /sendEvents/],
])('%s is found', (_, before, after, message) => {
  const released = readTypes('released/collector.d.ts')
  const present = released.replace(before, after)
  expect(present).not.toBe(released)
  expect(findBreaks(present, released).join('\n')).toMatch(message)
})
