/** The progress of an import, as lines and on a terminal. */
import { describe, expect, test } from '@jest/globals'
import { PassThrough } from 'node:stream'
import { showProgress, formatTimeLeft } from '../../../../src/commands/import/progress-bar.js'

describe('time left', () => {
  test.each([
    [10, 0.5, ', 10 s left'],
    [10, 0.1, ', 1 min 30 s left'],
    [60, 0.001, ', 999 min 0 s left'],
    [0.1, 0.9, ', 1 s left'],
    [10, 1, ''],
    [10, 0, ''],
    [10, undefined, ''],
  ])('%d seconds for %d', (seconds, share, want) => {
    expect(formatTimeLeft(seconds, share, ', ')).toBe(want)
  })
})

/** A stream that may be a terminal, and records what was written to it. */
function terminal(isTTY: boolean) {
  const written: string[] = []
  const stream = new PassThrough().on('data', (chunk: Buffer) => written.push(chunk.toString()))
  const screen = Object.assign(stream, { isTTY, columns: 120 }) as unknown as NodeJS.WriteStream
  return { screen, written: () => written.join('') }
}

test('without a terminal each update is a line', () => {
  const notes: string[] = []
  const { screen, written } = terminal(false)
  const progress = showProgress('a.csv', (text) => notes.push(text), screen)
  progress.rows(1_000, 0.5)
  progress.note('a.csv: row 1 rejected: nope')
  progress.rows(2_000, 1)
  progress.rows(2_000, undefined)
  progress.stop()
  expect(notes).toEqual([
    expect.stringMatching(/^a\.csv: 1,000 rows, [\d,]+ rows\/s, 50% read, \d+ s left$/),
    'a.csv: row 1 rejected: nope',
    expect.stringMatching(/^a\.csv: 2,000 rows, [\d,]+ rows\/s$/),
    expect.stringMatching(/^a\.csv: 2,000 rows, [\d,]+ rows\/s$/),
  ])
  expect(written()).toBe('')
})

test('on a terminal there is a bar, and notes stay above it', () => {
  const notes: string[] = []
  const { screen, written } = terminal(true)
  const progress = showProgress('a.csv', (text) => notes.push(text), screen)
  expect(written()).toContain(`a.csv [${' '.repeat(24)}] 0% | 0 rows, 0 rows/s`)
  progress.note('a.csv: row 1 rejected: nope')
  expect(written().endsWith('\r\u001b[K')).toBe(true)
  expect(notes).toEqual(['a.csv: row 1 rejected: nope'])
  progress.rows(1_000, 0.5)
  progress.stop()
  expect(written()).toMatch(/a\.csv \[={12} {12}\] 50% \| 1,000 rows, [\d,]+ rows\/s \| \d+ s left/)
})
