/** The output of the log never waits for its reader: it drops lines, counts them, and goes on. */
import { expect, test } from '@jest/globals'
import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createLogger } from '../../../src/lib/log.js'
import { openLogOutput } from '../../../src/lib/log-output.js'

/** A stream whose reader takes nothing until `read` is called. */
function createStalled(): { readonly stream: Writable; readonly read: () => readonly string[] } {
  const lines: string[] = []
  let isRead = false
  let proceed: (() => void) | undefined
  const stream = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      lines.push(line)
      if (isRead) done()
      else proceed = done
    },
  })
  const read = (): readonly string[] => {
    isRead = true
    proceed?.()
    return lines
  }
  return { stream, read }
}

test('lines beyond the buffer are dropped and counted, and later ones are written again', async () => {
  const { stream, read } = createStalled()
  const output = openLogOutput(stream, 10)
  for (const line of ['1234\n', '5678\n', 'lost\n', 'gone\n']) output.write(line)
  expect(output.countDropped()).toBe(2)
  const lines = read()
  expect(await output.flush(1_000)).toBe(true)
  output.write('later\n')
  expect(await output.flush(1_000)).toBe(true)
  expect(lines.filter((line) => line !== '')).toEqual(['1234\n', '5678\n', 'later\n'])
  expect(output.countDropped()).toBe(2)
})

test('flush gives up when nobody reads', async () => {
  const { stream } = createStalled()
  const output = openLogOutput(stream)
  output.write('line\n')
  expect(await output.flush(50)).toBe(false)
})

test('a reader that keeps up gets every line', async () => {
  const stream = new PassThrough()
  const received = text(stream)
  const output = openLogOutput(stream)
  const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`)
  for (const line of lines) output.write(line)
  expect(await output.flush(1_000)).toBe(true)
  stream.end()
  expect(await received).toBe(lines.join(''))
  expect(output.countDropped()).toBe(0)
})

test('a reader that is gone does not end the process', async () => {
  const stream = new PassThrough()
  const output = openLogOutput(stream)
  stream.destroy(new Error('EPIPE'))
  await new Promise(setImmediate)
  output.write('line\n')
  expect([output.countDropped(), await output.flush(50)]).toEqual([1, false])
})

test('a silent logger leaves standard output alone', () => {
  const before = process.stdout.listenerCount('error')
  createLogger('silent').error('line')
  expect(process.stdout.listenerCount('error')).toBe(before)
})
