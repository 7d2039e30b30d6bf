/** Serves the protocol over standard input and output: nothing else may write to the latter. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createServer, type ServerOptions } from './create-server.js'

/** Starts to serve. The process ends by itself when standard input ends and all calls are answered. */
export async function serveStdio(options: Omit<ServerOptions, 'isStructured'>): Promise<void> {
  await createServer({ ...options, isStructured: true }).connect(new StdioServerTransport())
}
