/** Lists the tools as the protocol describes them. Titles, descriptions and schemas are those of the contract. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { reduceForClients } from '../contract/client-document.js'
import { nameReferred, type SpecDocument } from '../contract/spec.js'
import { mapRecord } from '../lib/records.js'
import {
  bundleParameters,
  bundleSchema,
  type ObjectSchema,
  type Parameter,
} from './bundle-schema.js'
import { mergeRequests } from './merge-schemas.js'
import type { ToolDefinition } from './tools.js'

/**
 * Lists the tools. They have no schemas of results, which would be half of the list, and models do not need them.
 *
 * @throws Error if an operation of them is not in the contract
 */
export function listTools(
  document: SpecDocument,
  definitions: readonly ToolDefinition[],
): readonly Tool[] {
  const described = new Set<string>()
  const reduced = reduceForClients(document)
  return definitions.map((definition) => describeTool(reduced, definition, described))
}

function describeTool(
  document: SpecDocument,
  { name, method, path, hint, choices }: ToolDefinition,
  described: Set<string>,
): Tool {
  const { summary, description } = getOperation(document, method, path)
  const inputSchema =
    choices === undefined
      ? bundle(document, method, path, described)
      : mergeRequests(
          mapRecord(choices, (_, chosen) => bundle(document, 'post', chosen.path, described)),
        )
  return {
    name,
    title: summary,
    description: `${hint}\n\n${description}`,
    inputSchema,
    annotations: {
      title: summary,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  }
}

/** Bundles the schema of the body of an operation, or of its parameters if it has none. */
function bundle(
  document: SpecDocument,
  method: string,
  path: string,
  described: Set<string>,
): ObjectSchema {
  const { requestBody, parameters = [] } = getOperation(document, method, path)
  if (requestBody === undefined) return bundleParameters(document, parameters)
  const { $ref } = requestBody.content['application/json'].schema
  return bundleSchema(document, nameReferred($ref), described)
}

function getOperation(document: SpecDocument, method: string, path: string): Operation {
  const operation = (document as unknown as OperationsDocument).paths[path]?.[method]
  if (operation === undefined) throw new Error(`the contract has no ${method} ${path}`)
  return operation
}

/** The parts of the contract that lead to the schemas of an operation. */
interface OperationsDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>
}

interface Operation {
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
}

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } }
}
