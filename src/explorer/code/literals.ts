/** Values as the literals of JSON and of TypeScript, on as few lines as are easy to read. */

interface Notation {
  readonly name: (name: string) => string
  readonly text: (text: string) => string
  /** After the last member of a list that has several lines. */
  readonly lastComma: string
}

/** What a line may have. */
const LINE = 80
const NAME = /^[A-Za-z_$][\w$]*$/

/**
 * Characters that a terminal or an editor acts on rather than shows: the controls after those that JSON escapes, and the marks
 * that reverse the direction of text. Texts of events may have them.
 */
const UNSEEN = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const quote = (text: string): string =>
  JSON.stringify(text).replace(
    UNSEEN,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Quotes a text with single quotes, or with double quotes if it has single but no double quotes. */
function quoteSingly(text: string): string {
  const quoted = quote(text)
  if (text.includes("'")) return quoted
  return `'${quoted.slice(1, -1).replaceAll('\\"', '"')}'`
}

/** Names a member. `__proto__` is computed: as a plain name it sets the prototype instead of a member. */
function nameMember(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return NAME.test(name) ? name : quoteSingly(name)
}

const JSON_NOTATION: Notation = { name: quote, text: quote, lastComma: '' }
const TYPESCRIPT: Notation = {
  name: nameMember,
  text: quoteSingly,
  lastComma: ',',
}

/** Formats a value as JSON, which it can be parsed from again. */
export const formatJson = (value: unknown): string => formatValue(value, JSON_NOTATION, '', 0)

/** Formats a value as a literal of TypeScript. @param before how many characters its first line has already */
export const formatTypeScript = (value: unknown, before = 0): string =>
  formatValue(value, TYPESCRIPT, '', before)

function formatValue(value: unknown, notation: Notation, indent: string, before: number): string {
  if (typeof value === 'string') return notation.text(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const members = isList
    ? value.map((one: unknown) => ['', one] as const)
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([name, one]) => [`${notation.name(name)}: `, one] as const)
  const write = (inner: string): readonly string[] =>
    members.map(
      ([name, one]) => name + formatValue(one, notation, inner, inner.length + name.length),
    )
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (members.length === 0) return open + close
  const space = isList ? '' : ' '
  const line = open + space + write('').join(', ') + space + close
  // Members that have several lines do not fit into one.
  if (before + line.length <= LINE && !line.includes('\n')) return line
  const inner = `${indent}  `
  const lines = write(inner).join(`,\n${inner}`)
  return `${open}\n${inner}${lines}${notation.lastComma}\n${indent}${close}`
}
