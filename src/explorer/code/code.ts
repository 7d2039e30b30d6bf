/** A query as code: a command of curl or a program, with secrets apart. */
import type { Query } from '../client/contract.js'
import { ENDPOINTS, type ApiAccess } from './endpoints.js'
import { formatJson, formatTypeScript } from './literals.js'

/** A part that nobody who looks at the screen may read. */
interface Secret {
  readonly secret: string
}
/** A part of a code. */
export type CodePart = string | Secret

/** The whole text of a code. */
export const joinCode = (parts: readonly CodePart[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : part.secret)).join('')

/** Writes a query as a command of curl for any shell of POSIX. Its response is that of the page. */
export function formatCurl(
  { operation, body }: Pick<Query, 'operation' | 'body'>,
  { base, key }: ApiAccess,
): readonly CodePart[] {
  const authorization =
    key === undefined
      ? []
      : [`  -H 'Authorization: Bearer `, { secret: escapeQuotes(key) }, `' \\\n`]
  return [
    `curl ${quoteWord(base + ENDPOINTS[operation].path)} \\\n`,
    ...authorization,
    `  -H 'Content-Type: application/json' \\\n`,
    `  -d ${quoteWord(formatJson(body))}`,
  ]
}

/** Quotes a word for the shell. Between single quotes every other character stands for itself. */
const quoteWord = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${escapeQuotes(word)}'`

const escapeQuotes = (text: string): string => text.replaceAll("'", `'\\''`)

/** The clients for TypeScript, and where they get their keys. */
const CLIENTS = {
  project: { create: 'createTallyhouse', option: 'apiKey', variable: 'TALLYHOUSE_API_KEY' },
  admin: { create: 'createManagement', option: 'adminKey', variable: 'TALLYHOUSE_ADMIN_KEY' },
} as const

/** Writes a query as a program that uses the client for TypeScript. The key of the page is not in it: programs read theirs from the environment. */
export function formatProgram(
  { operation, body }: Pick<Query, 'operation' | 'body'>,
  { base, key }: ApiAccess,
): string {
  const { method, isForAdmin = false } = ENDPOINTS[operation]
  const { create, option, variable } = CLIENTS[isForAdmin ? 'admin' : 'project']
  const url = formatTypeScript(base)
  const value = key === undefined ? `''` : `process.env.${variable} ?? ''`
  const call = `const result = await tally.${method}(`
  return `import { ${create} } from '@tallyhouse/client'

const tally = ${create}({
  url: ${url},
  ${option}: ${value},
})

${call}${formatTypeScript(body, call.length + 1)})
if (result.ok) console.log(result.data.data)
else console.error(result.error.code, result.error.details)
`
}
