/** A question as a command that can be pasted into a shell. */
import type { Question } from '../client/contract.js'
import { ENDPOINTS, type Asker } from './endpoints.js'
import { formatJson } from './literals.js'
import type { CodePart } from './parts.js'

/** Writes a question as a command of curl for any shell of POSIX. Its answer is that of the page. */
export function formatCurl(
  { operation, body }: Pick<Question, 'operation' | 'body'>,
  { base, key }: Asker,
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
