/** Clients of the protocol: over HTTP, and over the standard input and output of `tallyhouse mcp`. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { packagePath } from '../../../src/lib/package-path.js'

/** Connects a client. */
export async function connect(transport: unknown): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  // The types of the package do not fit together under exactOptionalPropertyTypes.
  await client.connect(transport as Transport)
  return client
}

/** Connects over HTTP. */
export const connectHttp = (
  address: string,
  key: string,
  path = '/mcp?explain=true',
): Promise<Client> =>
  connect(
    new StreamableHTTPClientTransport(new URL(path, address), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    }),
  )

/** Starts `tallyhouse mcp` for a service. */
export const connectStdio = (address: string, key: string): Promise<Client> =>
  connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [packagePath('dist/cli.js'), 'mcp', '--explain'],
      env: { TALLYHOUSE_URL: address, TALLYHOUSE_API_KEY: key },
    }),
  )

/** The result of a call, as the tests compare it. */
export interface Called {
  readonly isError: boolean
  readonly structured: unknown
  readonly text: string
}

/** Calls a tool. */
export async function call(client: Client, name: string, args: unknown): Promise<Called> {
  const { content, structuredContent, isError } = await client.callTool({
    name,
    arguments: args as Record<string, unknown>,
  })
  const [first, ...others] = content as readonly { readonly text: string }[]
  if (first === undefined || others.length > 0) throw new Error('a result has one text')
  return { isError: isError === true, structured: structuredContent, text: first.text }
}
