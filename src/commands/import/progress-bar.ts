/** Shows how far an import has come: a bar on a terminal, lines elsewhere. */
import { SingleBar } from 'cli-progress'
import { stopwatch } from '../shared/progress.js'

export interface Progress {
  /** Tells of so many rows done, of all that are to be read. */
  rows(done: number, share: Share): void
  /** Writes a line that stays. */
  readonly note: (text: string) => void
  /** Ends the bar. */
  stop(): void
}

/** From 0 to 1; undefined where it is not known how much there is. */
export type Share = number | undefined

/** @param note writes a line on standard error */
export function showProgress(
  name: string,
  note: (text: string) => void,
  terminal: NodeJS.WriteStream = process.stderr,
): Progress {
  return terminal.isTTY ? bar(name, note, terminal) : lines(name, note)
}

function lines(name: string, note: (text: string) => void): Progress {
  const watch = stopwatch()
  return {
    rows(done, share) {
      const left = share === undefined || share >= 1 ? '' : `, ${percent(share)} read`
      note(`${name}: ${watch.rate(done)}${left}${timeLeft(watch.seconds(), share, ', ')}`)
    },
    note,
    stop: () => undefined,
  }
}

const CLEAR_LINE = '\r\u001b[K'

function bar(name: string, note: (text: string) => void, terminal: NodeJS.WriteStream): Progress {
  const watch = stopwatch()
  const single = new SingleBar({
    stream: terminal,
    // Of what is not known to end there is no bar.
    format: (_, { progress }, { told, share, left }: Payload) =>
      share === undefined
        ? `${name}: ${told}`
        : `${name} [${filled(progress)}] ${percent(share)} | ${told}${left}`,
    hideCursor: null,
    clearOnComplete: true,
    forceRedraw: true,
  })
  single.start(1, 0, { told: watch.rate(0), share: 0, left: '' } satisfies Payload)
  return {
    rows(done, share) {
      const left = timeLeft(watch.seconds(), share, ' | ')
      single.update(share ?? 0, { told: watch.rate(done), share, left } satisfies Payload)
    },
    note(text) {
      terminal.write(CLEAR_LINE)
      note(text)
    },
    stop: () => single.stop(),
  }
}

interface Payload {
  readonly told: string
  readonly share: Share
  readonly left: string
}

const WIDTH = 24

const filled = (share: number): string => {
  const full = Math.round(share * WIDTH)
  return '='.repeat(full) + ' '.repeat(WIDTH - full)
}

const percent = (share: number): string => `${Math.floor(share * 100)}%`

/** How long it takes still at the speed so far, e.g. `2 min 5 s left`; empty where that is not known. */
export function timeLeft(seconds: number, share: Share, separator: string): string {
  if (share === undefined || share <= 0 || share >= 1) return ''
  const left = Math.ceil((seconds * (1 - share)) / share)
  const minutes = Math.floor(left / 60)
  return `${separator}${minutes > 0 ? `${minutes} min ` : ''}${left % 60} s left`
}
