/** The forms of a line that stands for a row which is no event as it came. */
import { INVALID_LINE } from '../../inbox/batches.js'

/** A row that is left out on purpose. */
export const PASSED_OVER = ''

/** A row that cannot be loaded, with the reason; both in one line. */
export const unfit = (reason: string, row: string): string =>
  `${INVALID_LINE.start}${inOneLine(reason)}${INVALID_LINE.end}${inOneLine(row)}`

/** Text whose line ends are spaces. */
export const inOneLine = (text: string): string => text.replace(/[\r\n]/g, ' ')
