/** Lists the tools as the protocol describes them. Titles, descriptions and schemas are those of the contract. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import type { SpecDocument } from '../contract/spec.js'
import { mapRecord } from '../lib/records.js'
import { bundleSchema, type ObjectSchema } from './bundle-schema.js'
import { mergeRequests, uniteResponses } from './merge-schemas.js'
import type { ToolDefinition, ToolOperation } from './tools.js'

/** The arguments of a tool whose operation has no body. */
const NO_ARGUMENTS: ObjectSchema = { type: 'object', properties: {}, additionalProperties: false }

/**
 * Lists the tools.
 *
 * @throws Error if an operation of them is not in the contract
 */
export function listTools(
  document: SpecDocument,
  definitions: readonly ToolDefinition[],
): readonly Tool[] {
  const described = new Set<string>()
  return definitions.map((definition) => describeTool(document, definition, described))
}

function describeTool(
  document: SpecDocument,
  { name, method, path, hint, choices }: ToolDefinition,
  described: Set<string>,
): Tool {
  const { summary, description } = getOperation(document, method, path)
  const schemas =
    choices === undefined
      ? bundle(document, method, path, described)
      : bundleChoices(document, choices, described)
  return {
    name,
    title: summary,
    description: `${hint}\n\n${description}`,
    ...schemas,
    annotations: {
      title: summary,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  }
}

type ToolSchemas = Record<'inputSchema' | 'outputSchema', ObjectSchema>

/** Bundles the schemas of an operation. */
function bundle(
  document: SpecDocument,
  method: string,
  path: string,
  described: Set<string>,
): ToolSchemas {
  const { requestBody, responses } = getOperation(document, method, path)
  const bundleContent = ({ content }: Content): ObjectSchema => {
    const { $ref } = content['application/json'].schema
    return bundleSchema(document, $ref.split('/').at(-1) ?? '', described)
  }
  return {
    inputSchema: requestBody === undefined ? NO_ARGUMENTS : bundleContent(requestBody),
    outputSchema: bundleContent(responses['200']),
  }
}

/** Bundles the schemas of a tool that runs one of several operations. */
function bundleChoices(
  document: SpecDocument,
  choices: Readonly<Record<string, ToolOperation>>,
  described: Set<string>,
): ToolSchemas {
  const schemas = mapRecord(choices, (_, { path }) => bundle(document, 'post', path, described))
  return {
    inputSchema: mergeRequests(mapRecord(schemas, (_, { inputSchema }) => inputSchema)),
    outputSchema: uniteResponses(Object.values(schemas).map(({ outputSchema }) => outputSchema)),
  }
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
  readonly requestBody?: Content
  readonly responses: { readonly '200': Content }
}

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } }
}
