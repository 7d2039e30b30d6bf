/** Compiles the schemas of request bodies into functions. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { FORMATS } from '../../contract/formats.js'
import { describeErrors, type BodyErrors } from './error-messages.js'
import type { UnionMessages } from './union-errors.js'

/** Finds what the schema of a body says against one, and fills in its defaults. */
export type FindErrors = (body: unknown) => BodyErrors

/** Returns what finds the errors of the bodies that are sent to a path. */
export type Bodies = (path: string, method?: string) => FindErrors

/**
 * Compiles the schemas of a contract, each when it is first needed.
 *
 * @param prepared the contract as validators take it
 */
export function compileBodies(prepared: object, unions: UnionMessages = {}): Bodies {
  const listErrors = createListErrors(prepared)
  return (path, method = 'post') =>
    (body) =>
      describeErrors(listErrors(path, body, method), body, unions)
}

const ROOT = 'contract'
const BODY = 'requestBody/content/application~1json/schema'

/**
 * Creates the function that lists the errors of a body as Ajv reports them.
 *
 * Express-openapi-validator hands over neither its compiled schemas nor these errors, so they are compiled again, with the
 * options that it gives to Ajv. A test asserts that both find the same errors.
 */
export function createListErrors(
  prepared: object,
): (path: string, body: unknown, method?: string) => readonly ErrorObject[] {
  let ajv: Ajv2020 | undefined
  return (path, body, method = 'post') => {
    ajv ??= createAjv(prepared)
    const validate = ajv.getSchema(`${ROOT}#/paths/${escapePointer(path)}/${method}/${BODY}`)
    if (validate === undefined) throw new Error(`the contract knows no body of ${path}`)
    void validate(body)
    return validate.errors ?? []
  }
}

function createAjv(document: object): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    strictNumbers: true,
    validateSchema: false,
    allErrors: true,
    useDefaults: true,
    formats: FORMATS,
  })
  ajv.addSchema(document, ROOT)
  return ajv
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
