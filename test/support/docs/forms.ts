/** Writes a query as people send it: with curl, TypeScript and Python. All forms are derived from its JSON. */

/** The languages of the recipes. */
export const LANGUAGES = ['sh', 'ts', 'python'] as const
export type Language = (typeof LANGUAGES)[number]

const NAMES: Readonly<Record<Language, string>> = { sh: 'curl', ts: 'TypeScript', python: 'Python' }

const FORMS: Readonly<Record<Language, (path: string, json: string) => string>> = {
  sh: (path, json) => `curl -s http://127.0.0.1:8080${path} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '${json.replaceAll("'", `'\\''`)}'`,
  ts: (path, json) => `const { data, error } = await tallyhouse.POST('${path}', { body: ${json} })`,
  python: (path, json) => `answer = tally.${nameMethod(path)}(${toPython(json)})`,
}

/** Returns the method of the Python client for an operation: `explain_funnel` for `/v1/analytics/funnel/explain`. */
const nameMethod = (path: string): string =>
  path.replace('/v1/analytics/', '').split('/').reverse().join('_')

/** JSON is Python, except for three words. */
const WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
const toPython = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => WORDS[token] ?? token)

/** Formats all forms of a query as Markdown: each is folded up. */
export const formatCode = (path: string, json: string): string =>
  LANGUAGES.map(
    (language) =>
      `<details><summary>${NAMES[language]}</summary>\n\n\`\`\`${language}\n${FORMS[language](path, json.trim())}\n\`\`\`\n\n</details>\n\n`,
  ).join('')

/** Lists the blocks of a language, in order. */
export const listBlocks = (
  markdown: string,
  language: Language | 'csv' | 'json' | 'sql',
): readonly string[] =>
  [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  )
