/** Lists the tools as the protocol describes them. Titles, descriptions and schemas are those of the contract. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import type { SpecDocument } from '../contract/spec.js'
import { bundleSchema, type ObjectSchema } from './bundle-schema.js'
import { TOOLS, type ToolDefinition } from './tools.js'

/** The arguments of a tool whose operation has no body. */
const NO_ARGUMENTS: ObjectSchema = { type: 'object', properties: {}, additionalProperties: false }

/**
 * Lists the tools.
 *
 * @throws Error if an operation of the table is not in the contract
 */
export function listTools(document: SpecDocument): readonly Tool[] {
  const described = new Set<string>()
  return Object.entries(TOOLS).map(([name, definition]) =>
    describeTool(document, name, definition, described),
  )
}

function describeTool(
  document: SpecDocument,
  name: string,
  { method, path, hint }: ToolDefinition,
  described: Set<string>,
): Tool {
  const operation = (document as unknown as OperationsDocument).paths[path]?.[method]
  if (operation === undefined) throw new Error(`the contract has no ${method} ${path}`)
  const { summary, description, requestBody, responses } = operation
  const bundle = ({ content }: Content): ObjectSchema => {
    const { $ref } = content['application/json'].schema
    return bundleSchema(document, $ref.split('/').at(-1) ?? '', described)
  }
  return {
    name,
    title: summary,
    description: `${hint}\n\n${description}`,
    inputSchema: requestBody === undefined ? NO_ARGUMENTS : bundle(requestBody),
    outputSchema: bundle(responses['200']),
    annotations: {
      title: summary,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  }
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
