/**
 * Checks patterns before a statement is run with them. RE2JS knows the syntax of RE2. What it would take long to compile, or
 * RE2 would refuse for its size, is refused first.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js'

/** How many characters a pattern may have. */
const MAX_LENGTH = 256
/** How many parts a pattern may have once its counted repetitions are written out. */
const MAX_PARTS = 2_000
/** How many parts a class of Unicode counts as: it compiles to hundreds of ranges. */
const PARTS_OF_CLASS = 50

/** Returns what is wrong with a pattern; undefined if it compiles. Positions are characters, counted from 1. */
export function checkPattern(pattern: string): string | undefined {
  if (Array.from(pattern).length > MAX_LENGTH) {
    return `must have at most ${MAX_LENGTH} characters to be a pattern`
  }
  const { parts, bracket } = survey(pattern)
  if (parts > MAX_PARTS) {
    return `must have at most ${MAX_PARTS} parts as a pattern, with its repetitions written out`
  }
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error
    const reason = error.message.slice('error parsing regexp: '.length).split(': `', 1)[0] ?? ''
    const at = locate(pattern, error.getPattern(), bracket)
    return `must be a pattern of RE2: ${reason} at character ${Array.from(pattern.slice(0, at)).length + 1}`
  }
}

/** Finds where a part of the pattern that is wrong begins. A missing bracket is reported with the whole pattern. */
function locate(pattern: string, part: string | null, bracket: number | undefined): number {
  if (part === null) return pattern.length - 1
  if (part === pattern && bracket !== undefined) return bracket
  return Math.max(0, pattern.indexOf(part))
}

/** An escape, a class in brackets, a counted repetition, another repetition, a bracket, or any character. */
const TOKENS =
  /\\[pP](?:\{[^}]*\}?|.)|\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]?|\{(?<min>\d+)(?:,(?<max>\d*))?\}|[*+?]|\(|\)|[^]/gu

interface Survey {
  readonly parts: number
  /** The index of the first bracket without its counterpart. */
  readonly bracket: number | undefined
}

/** Counts the parts of a pattern, and finds a bracket without its counterpart. */
function survey(pattern: string): Survey {
  const groups: { readonly index: number; parts: number }[] = []
  let group = { index: -1, parts: 0 }
  let last = 0
  let stray: number | undefined
  for (const { 0: token, index, groups: named } of pattern.matchAll(TOKENS)) {
    const { min = '', max = '' } = named ?? {}
    const count = min === '' ? NaN : Number(max === '' ? min : max)
    if (token === '(') {
      groups.push(group)
      group = { index, parts: 0 }
    } else if (token === ')') {
      const outer = groups.pop()
      if (outer === undefined) stray ??= index
      last = group.parts + 1
      if (outer !== undefined) group = { ...outer, parts: outer.parts + last }
    } else if (Number.isNaN(count)) {
      last = countParts(token)
      group.parts += last
    } else {
      group.parts += last * Math.max(0, count - 1)
      last *= Math.max(1, count)
    }
  }
  const open = groups.length === 0 ? undefined : group.index
  return {
    parts: groups.reduce((sum, one) => sum + one.parts, group.parts),
    bracket: stray ?? open,
  }
}

const countParts = (token: string): number =>
  /\\[pP]/.test(token) ? PARTS_OF_CLASS : token.startsWith('\\Q') ? token.length : 1
