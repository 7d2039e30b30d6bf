/** Runs the examples of a page in their languages, all of a language in one process. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { packagePath } from '../../../src/lib/package-path.js'
import { readSpec } from '../../../src/contract/spec.js'
import { listBlocks, type Language } from './forms.js'

const run = promisify(execFile)

/** The address of the service in the examples. */
const ADDRESS = 'http://127.0.0.1:8080'

export interface Running {
  /** A folder beside node_modules, so that imports are resolved. */
  readonly folder: string
  readonly address: string
  readonly key: string
}

/** Runs commands of a page, and returns what they print. */
export async function runCommand(commands: string, { address, key }: Running): Promise<string> {
  const script = commands.replaceAll(ADDRESS, address)
  const { stdout } = await run('bash', ['-ec', script], { env: { ...process.env, KEY: key } })
  return stdout
}

/** Runs each command that asks, and returns what it prints. */
export async function runCommands(markdown: string, running: Running): Promise<readonly string[]> {
  const printed: string[] = []
  for (const block of listBlocks(markdown, 'sh').filter((text) => text.startsWith('curl '))) {
    printed.push(await runCommand(block, running))
  }
  return printed
}

/** Runs each command that asks, and returns the answers. */
export const runShell = async (markdown: string, running: Running): Promise<readonly unknown[]> =>
  (await runCommands(markdown, running)).map((text): unknown => JSON.parse(text))

/** Lists the blocks of pages, the one that prepares first, and the variable in which each of the others leaves its result. */
function listCases(pages: readonly string[], language: Language, variable: string) {
  const [setup = '', ...blocks] = pages.flatMap((page) => listBlocks(page, language))
  const cases = blocks.map((block) => ({
    block,
    result: /^(?:const )?rows = /m.test(block) ? 'rows' : variable,
  }))
  return { setup, cases }
}

/** Runs the first block of the pages, which prepares, then all others; returns the result of each. @param python the command */
export async function runPython(
  python: string,
  pages: readonly string[],
  { folder, address, key }: Running,
): Promise<readonly unknown[]> {
  const { setup, cases } = listCases(pages, 'python', 'answer')
  const lines = cases.map(({ block, result }) => `${block}answers.append(${result})`)
  const show = 'import json\nprint(json.dumps(answers))\n'
  const program = [setup, 'answers = []', ...lines, show].join('\n')
  const file = path.join(folder, 'program.py')
  await writeFile(file, program.replaceAll(ADDRESS, address))
  const { stdout } = await run(python, [file], {
    env: { ...process.env, KEY: key, PYTHONPATH: packagePath('clients/python/src') },
  })
  return JSON.parse(stdout) as readonly unknown[]
}

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  skipLibCheck: true,
  types: ['node'],
}

/** Type-checks the same with types generated from the contract, and runs it; returns the result of each block. */
export async function runTypeScript(
  pages: readonly string[],
  { folder, address, key }: Running,
): Promise<readonly unknown[]> {
  const types = await openapiTypescript(readSpec('openapi').yaml, { defaultNonNullable: false })
  await writeFile(path.join(folder, 'tallyhouse.ts'), astToString(types))
  const { setup, cases } = listCases(pages, 'ts', 'data')
  const check = 'if (error !== undefined) throw new Error(error.error.message)\n'
  const blocks = cases.map(
    ({ block, result }) => `{\n${block}${result === 'data' ? check : ''}answers.push(${result})\n}`,
  )
  const show = 'console.log(JSON.stringify(answers))'
  const program = [setup, 'const answers: unknown[] = []', ...blocks, show].join('\n')
  const file = path.join(folder, 'program.ts')
  await writeFile(file, program.replaceAll(ADDRESS, address))
  compile([file])
  const { stdout } = await run(process.execPath, [file.replace(/ts$/, 'js')], {
    env: { ...process.env, KEY: key },
  })
  return JSON.parse(stdout) as readonly unknown[]
}

/** Type-checks programs, and writes each as JavaScript beside it. @throws Error with all messages if one does not type-check */
export function compile(files: readonly string[]): void {
  const program = ts.createProgram(files, OPTIONS)
  const messages = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics].map(
    ({ messageText, file: source, start = 0 }) =>
      `${ts.flattenDiagnosticMessageText(messageText, '\n')} at ${source?.text.slice(start, start + 80) ?? ''}`,
  )
  if (messages.length > 0) throw new Error(messages.join('\n'))
}
