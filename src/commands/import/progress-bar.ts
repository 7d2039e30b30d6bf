/** Shows the progress of an import: a bar on a terminal, lines elsewhere. */
import { SingleBar } from 'cli-progress'
import type { Share } from '../../ingest/import/import-file.js'
import { startStopwatch } from '../shared/stopwatch.js'

interface Progress {
  /** Shows how many rows are done, and which share of the source has been read. */
  readonly rows: (done: number, share: Share) => void
  /** Writes a line that stays visible. */
  readonly note: (text: string) => void
  /** Removes the bar. */
  stop(): void
}

/**
 * Starts to show the progress of a source.
 *
 * @param note writes a line to standard error
 */
export function showProgress(
  name: string,
  note: (text: string) => void,
  terminal: NodeJS.WriteStream = process.stderr,
): Progress {
  return terminal.isTTY ? showBar(name, note, terminal) : showLines(name, note)
}

function showLines(name: string, note: (text: string) => void): Progress {
  const stopwatch = startStopwatch()
  return {
    rows(done, share) {
      const percent = share === undefined || share >= 1 ? '' : `, ${formatPercent(share)} read`
      const left = formatTimeLeft(stopwatch.getSeconds(), share, ', ')
      note(`${name}: ${stopwatch.formatRate(done)}${percent}${left}`)
    },
    note,
    stop: () => undefined,
  }
}

const CLEAR_LINE = '\r\u001b[K'

/** The texts beside the bar. */
interface BarState {
  readonly rate: string
  readonly share: Share
  readonly left: string
}

function showBar(
  name: string,
  note: (text: string) => void,
  terminal: NodeJS.WriteStream,
): Progress {
  const stopwatch = startStopwatch()
  const bar = new SingleBar({
    stream: terminal,
    // Without a known total, show a counter instead of a bar.
    format: (_, { progress }, { rate, share, left }: BarState) =>
      share === undefined
        ? `${name}: ${rate}`
        : `${name} [${drawBar(progress)}] ${formatPercent(share)} | ${rate}${left}`,
    hideCursor: null,
    clearOnComplete: true,
    forceRedraw: true,
  })
  bar.start(1, 0, { rate: stopwatch.formatRate(0), share: 0, left: '' } satisfies BarState)
  return {
    rows(done, share) {
      const left = formatTimeLeft(stopwatch.getSeconds(), share, ' | ')
      bar.update(share ?? 0, { rate: stopwatch.formatRate(done), share, left } satisfies BarState)
    },
    note(text) {
      terminal.write(CLEAR_LINE)
      note(text)
    },
    stop: () => bar.stop(),
  }
}

const BAR_WIDTH = 24

const drawBar = (share: number): string =>
  '='.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH)

const formatPercent = (share: number): string => `${Math.floor(share * 100)}%`

/** Formats the remaining time at the speed so far, e.g. `2 min 5 s left`; empty when it cannot be estimated. */
export function formatTimeLeft(seconds: number, share: Share, separator: string): string {
  if (share === undefined || share <= 0 || share >= 1) return ''
  const left = Math.ceil((seconds * (1 - share)) / share)
  const minutes = Math.floor(left / 60)
  return `${separator}${minutes > 0 ? `${minutes} min ` : ''}${left % 60} s left`
}
