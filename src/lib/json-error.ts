/** Finds the place at which a text stops being JSON (RFC 8259). The errors of `JSON.parse` quote the text, and some have no place. */

/** A token after white space, at the position `lastIndex`. */
const TOKEN =
  /[{}[\],:]|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y // eslint-disable-line no-control-regex
const WHITE_SPACE = /[ \t\n\r]*/y
const BYTE_ORDER_MARK = '\ufeff'

/** What may come next. `item` and `name` begin the first entry of an array or object, which may also end there. */
type Expected = 'value' | 'item' | 'name' | 'next name' | 'colon' | 'separator'

/**
 * Returns the position of the first token that cannot stand where it does, or the end of a text that is incomplete;
 * undefined for valid JSON. A byte order mark is skipped. Reads the text once, without recursion.
 */
export function findJsonError(text: string): number | undefined {
  const open: string[] = []
  let expected: Expected = 'value'
  let position = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  for (;;) {
    position = skipWhiteSpace(text, position)
    if (expected === 'separator' && open.length === 0) {
      return position === text.length ? undefined : position
    }
    TOKEN.lastIndex = position
    const [token] = TOKEN.exec(text) ?? []
    const next: Expected | undefined = token === undefined ? undefined : take(token, expected, open)
    if (token === undefined || next === undefined) return position
    expected = next
    position += token.length
  }
}

/** Returns what may follow a token, and keeps what is open; undefined if the token may not stand there. */
function take(token: string, expected: Expected, open: string[]): Expected | undefined {
  const [first = ''] = token
  if (first === '}' || first === ']') return close(first, expected, open)
  switch (expected) {
    case 'colon':
      return first === ':' ? 'value' : undefined
    case 'separator':
      if (first !== ',') return undefined
      return open.at(-1) === '}' ? 'next name' : 'value'
    case 'name':
    case 'next name':
      return first === '"' ? 'colon' : undefined
    case 'value':
    case 'item':
      if (first === ',' || first === ':') return undefined
      if (first !== '{' && first !== '[') return 'separator'
      open.push(first === '{' ? '}' : ']')
      return first === '{' ? 'name' : 'item'
  }
}

/** Closes the innermost array or object, unless an entry of it is missing. */
function close(bracket: string, expected: Expected, open: string[]): Expected | undefined {
  const isEmpty = expected === (bracket === '}' ? 'name' : 'item')
  if (open.at(-1) !== bracket || !(isEmpty || expected === 'separator')) return undefined
  open.pop()
  return 'separator'
}

function skipWhiteSpace(text: string, position: number): number {
  WHITE_SPACE.lastIndex = position
  return position + (WHITE_SPACE.exec(text)?.[0].length ?? 0)
}

/** Describes a text that is not JSON, without quoting it; undefined for valid JSON. Continues a sentence. */
export function describeJsonError(text: string): string | undefined {
  const position = findJsonError(text)
  if (position === undefined) return undefined
  const lines = text.slice(0, position).split('\n')
  const end = position === text.length ? ', where it ends' : ''
  return `is not valid JSON at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}${end}`
}
