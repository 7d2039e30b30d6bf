/** Finds the queries that a page of the docs shows, and writes their answers into the page. */
import prettier from 'prettier'
import { formatCode } from './forms.js'

/** A query on a page, with what the page shows after it. */
export interface Example {
  /** The heading above it. */
  readonly title: string
  /** The path of the operation, such as `/v1/analytics/query`. */
  readonly path: string
  /** The body, as the page has it. */
  readonly json: string
  /** What is generated: the forms, if the page shows any, and the answer. */
  readonly shown: string
}

const EXAMPLE =
  /(<!-- ask (\S+) -->\n+```json\n([^]*?)```\n+<!-- answer -->\n)([^]*?)(<!-- end -->)/g

/** Lists the examples of a page, in order. */
export const listExamples = (markdown: string): readonly Example[] =>
  [...markdown.matchAll(EXAMPLE)].map(({ index, 2: path = '', 3: json = '', 4: shown = '' }) => ({
    title: [...markdown.slice(0, index).matchAll(/^#+ (.+)$/gm)].at(-1)?.[1] ?? '',
    path,
    json,
    shown,
  }))

/** Returns the page with the answers of its examples, in order. @param withCode whether to add the forms in each language */
export async function writeAnswers(
  markdown: string,
  answers: readonly unknown[],
  withCode: boolean,
): Promise<string> {
  let next = 0
  const written = markdown.replace(
    EXAMPLE,
    (_, before: string, path: string, json: string, _shown, end: string) => {
      const answer = `\`\`\`json\n${formatAnswer(answers[next++])}\n\`\`\`\n\n`
      return `${before}\n${withCode ? formatCode(path, json) : ''}${answer}${end}`
    },
  )
  const style = await prettier.resolveConfig('docs/recipes.md', { useCache: false })
  return prettier.format(written, { ...style, parser: 'markdown' })
}

/** Formats an answer without `query`, which repeats the body; its rows stay on a line each where they fit. */
export function formatAnswer(answer: unknown): string {
  const members = Object.entries(answer as object)
    .filter(([name]) => name !== 'query')
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n${members.join(',\n')}\n}`
}

/** Reads the answer that a page shows: the last block of what is generated. */
export const readAnswer = ({ shown }: Example): unknown =>
  JSON.parse(/```json\n([^]*?)```\n*$/.exec(shown)?.[1] ?? 'null')
