/** A question as a program that uses the client for TypeScript. */
import type { Question } from '../client/contract.js'
import { ENDPOINTS, type Asker } from './endpoints.js'
import { formatTypeScript } from './literals.js'

/** Writes a question as a program. The key of the page is not in it: programs read theirs from the environment. */
export function formatProgram(
  { operation, body }: Pick<Question, 'operation' | 'body'>,
  { base, key }: Asker,
): string {
  const url = formatTypeScript(base)
  const apiKey = key === undefined ? `''` : `process.env.TALLYHOUSE_API_KEY ?? ''`
  const call = `const result = await tally.${ENDPOINTS[operation].method}(`
  return `import { createTallyhouse } from '@tallyhouse/client'

const tally = createTallyhouse({
  url: ${url},
  apiKey: ${apiKey},
})

${call}${formatTypeScript(body, call.length + 1)})
if (result.ok) console.log(result.data.data)
else console.error(result.error.code, result.error.details)
`
}
