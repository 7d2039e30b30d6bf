/** Runs the commands of a page that are followed by what they print. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'
import type { Running } from './programs.js'

const run = promisify(execFile)

/** A block with a command, and the block after it with what it prints. */
const COMMAND = /(^```sh\n(tallyhouse [^`]*)^```\n\n```text\n)([^`]*)(^```)/gm

/** Returns the page with what its commands print, in order. */
export async function writeOutputs(markdown: string, { address, key }: Running): Promise<string> {
  const env = { PATH: process.env['PATH'], TALLYHOUSE_URL: address, TALLYHOUSE_API_KEY: key }
  const tallyhouse = `tallyhouse() { node '${packagePath('dist/cli.js')}' "$@"; }`
  const outputs: string[] = []
  for (const [, , command = ''] of markdown.matchAll(COMMAND)) {
    const { stdout } = await run('bash', ['-c', `${tallyhouse}\n${command}`], { env })
    outputs.push(stdout)
  }
  let next = 0
  return markdown.replace(
    COMMAND,
    (_, before: string, _command, _shown, end: string) => `${before}${outputs[next++] ?? ''}${end}`,
  )
}
