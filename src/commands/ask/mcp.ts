/** The command `tallyhouse mcp`. */
import { readService } from '../../config/config.js'
import { SERVICE_VARIABLES } from '../../config/service-address.js'
import { recognizeCredential } from '../../contract/bearer.js'
import { readSpec, readSpecs } from '../../contract/spec.js'
import { UserError } from '../../lib/errors.js'
import { mergeDocuments } from '../../contract/merge-documents.js'
import { isRecord } from '../../lib/records.js'
import type { ToolOutcome } from '../../mcp/call-result.js'
import type { RunTool, ServerOptions } from '../../mcp/create-server.js'
import { INSTRUCTIONS, MANAGEMENT_INSTRUCTIONS } from '../../mcp/tools.js'
import type { AddCommand } from '../shared/context.js'
import { formatTable } from '../shared/output.js'
import { askService, type ServiceResponse } from './service-client.js'

export const addMcp: AddCommand = (program) => {
  program
    .command('mcp')
    .description('Serve a running service to a language model over standard input and output (MCP)')
    .option('--explain', 'also offer the tool that shows how queries are answered')
    .addHelpText('after', `\nEnvironment variables:\n${formatTable(VARIABLES)}`)
    .action(async ({ explain = false }: { readonly explain?: boolean }) => {
      const service = readService()
      // Imported here, because it takes longer to load than most other commands.
      const { serveStdio } = await import('../../mcp/serve-stdio.js')
      const { listMarkdownPages } = await import('../../http/site/docs/build-pages.js')
      const run: RunTool = async ({ path }, body, signal) =>
        requireOutcome(await askService(service, path, body, { signal }))
      const isAdmin = recognizeCredential(service.apiKey) === 'admin key'
      const offer = await (isAdmin ? offerManagement() : offerProject(explain))
      await serveStdio({ ...offer, pages: listMarkdownPages(), run })
    })
}

type Offer = Pick<ServerOptions, 'definitions' | 'tools' | 'instructions'>

/** Lists the tools of an API key. */
async function offerProject(withExplain: boolean): Promise<Offer> {
  const { chooseTools } = await import('../../http/mcp/tools.js')
  const { listTools } = await import('../../mcp/list-tools.js')
  const definitions = chooseTools(withExplain)
  const tools = listTools(readSpec('openapi').document, definitions)
  return { definitions, tools, instructions: INSTRUCTIONS }
}

/** Lists the tools of an admin key. */
async function offerManagement(): Promise<Offer> {
  const { MANAGEMENT_TOOLS: definitions } = await import('../../http/mcp/management-tools.js')
  const { listTools } = await import('../../mcp/list-tools.js')
  const tools = listTools(mergeDocuments(readSpecs()), definitions)
  return { definitions, tools, instructions: MANAGEMENT_INSTRUCTIONS }
}

const VARIABLES = Object.entries(SERVICE_VARIABLES).map(([name, help]) => [`  ${name}`, help])

/** @throws UserError for a response that is not one of Tallyhouse, such as that of a proxy */
function requireOutcome({ status, body, headers }: ServiceResponse): ToolOutcome {
  if (!isRecord(body) || (status !== 200 && !isRecord(body['error']))) {
    throw new UserError(`the response is not one of Tallyhouse (status ${status})`)
  }
  const retryAfter = headers.get('Retry-After')
  return { status, body, ...(retryAfter !== null && { retry_after: Number(retryAfter) }) }
}
