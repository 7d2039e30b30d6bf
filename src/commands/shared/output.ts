/** The forms in which commands print results. */

const GAP = '  '

/** JSON for programs, indented for people. */
export const json = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** Lines of cells under each other; the last cell of a line is as long as it is. */
export function table(lines: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const line of lines) {
    for (const [i, cell] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  return lines
    .map((line) => line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(GAP))
    .map((line) => line.trimEnd())
    .join('\n')
}

/** A moment as people read it, to the second; `-` for none. */
export const moment = (time: Date | null): string =>
  time === null ? '-' : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** A list in one cell; `-` for an empty one. */
export const list = (values: readonly string[]): string =>
  values.length === 0 ? '-' : values.join(', ')
