/** The command `tallyhouse mcp`. */
import { readService } from '../../config/config.js'
import { SERVICE_VARIABLES } from '../../config/service-address.js'
import { readSpec } from '../../contract/spec.js'
import { UserError } from '../../lib/errors.js'
import { isRecord } from '../../lib/records.js'
import type { ToolOutcome } from '../../mcp/call-result.js'
import type { RunTool } from '../../mcp/create-server.js'
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
      const { listTools } = await import('../../mcp/list-tools.js')
      const { chooseTools } = await import('../../http/mcp/tools.js')
      const { listMarkdownPages } = await import('../../http/site/docs/build-pages.js')
      const run: RunTool = async ({ path }, body, signal) =>
        requireOutcome(await askService(service, path, body, { signal }))
      const definitions = chooseTools(explain)
      const tools = listTools(readSpec('openapi').document, definitions)
      await serveStdio({ definitions, tools, pages: listMarkdownPages(), run })
    })
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
