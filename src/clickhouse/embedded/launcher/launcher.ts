/**
 * The child process that is the engine: it takes the lock of the data folder, waits for its
 * configuration, runs a real ClickHouse on one HTTP port, and ends with its parent.
 */
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { closeIdleConnections } from './close-connections.js'
import {
  EXIT_FAILED,
  EXIT_IN_USE,
  EXIT_PORT_TAKEN,
  EXIT_STOPPED,
  LOCK_FD,
  LOCKED,
  READY,
  START,
  type LaunchOptions,
} from './protocol.js'
import { exitNow, libc, openEngine, runEngine } from './ffi.js'
import { openPty } from './pty.js'

const HOST = '127.0.0.1'
const DRAIN_MS = 250
const RETYPE_MS = 200
const STOP_MS = 10_000
const START_MS = 120_000

const { home, port, holder } = JSON.parse(process.argv[2] ?? '') as LaunchOptions
const config = path.join(home, 'config.xml')
const portFile = path.join(home, 'port')

function say(message: string): void {
  try {
    fs.writeSync(2, `embedded: ${message}\n`)
  } catch {
    // Nobody listens any more: the parent is gone.
  }
}

function fail(message: string, code = EXIT_FAILED): never {
  say(message)
  return exitNow(code)
}

process.umask(0o077)
process.on('uncaughtException', (error) => fail(error.stack ?? error.message))

if (!libc.tryFlock(LOCK_FD)) exitNow(EXIT_IN_USE)
// Written before it is cut, so that a refused process never reads an empty file.
fs.ftruncateSync(LOCK_FD, fs.writeSync(LOCK_FD, JSON.stringify(holder), 0))

const terminal = openPty()
const tell = (line: string): number => fs.writeSync(terminal.parent.stdout, `${line}\n`)
const parent = new net.Socket({ fd: terminal.parent.stdin, readable: true, writable: false })
let state: 'waiting' | 'starting' | 'ready' | 'stopping' = 'waiting'

parent.on('error', () => undefined)
parent.on('close', stop)
parent.setEncoding('utf8')
parent.on('data', (line) => {
  if (state === 'waiting' && String(line).startsWith(START)) void start()
})
// A service manager may signal every process of the service; the parent then still has queries to
// finish. It is for the parent to end the engine.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
tell(LOCKED)

async function start(): Promise<void> {
  state = 'starting'
  // Without its configuration the engine would start all the same, open to everyone.
  if (!fs.existsSync(config)) fail(`there is no ${config}`)
  await refuseTakenPort()
  fs.rmSync(portFile, { force: true })
  openEngine()
  terminal.onText(onScreen)
  setTimeout(() => state === 'starting' && fail('not ready in time'), START_MS)
  const error = await runEngine([
    'clickhouse',
    `--config-file=${config}`,
    `--path=${path.join(home, 'data')}`,
    `--listen_host=${HOST}`,
    `--http_port=${port}`,
    // See the README: together with the terminal it keeps one client's reset from ending the process.
    '--interactive',
    '--disable_suggestion',
    '--highlight=0',
    '--progress=off',
    '--progress-table=off',
    '--history_file=/dev/null',
    '--query',
    `SYSTEM START LISTEN HTTP; SELECT getServerPort('http_port') INTO OUTFILE ${literal(portFile)} TRUNCATE FORMAT TSV`,
  ])
  if (error !== undefined) say(firstLine(error))
  exitNow(hasStopped() && error === undefined ? EXIT_STOPPED : EXIT_FAILED)
}

/** The prompt means that the statements are done, or that one failed: then there is no file. */
function onScreen(text: string): void {
  if (state !== 'starting' || !text.includes(':) ')) return
  if (!fs.existsSync(portFile)) {
    fail(firstLine(/Code: \d+\. DB::.*/s.exec(text)?.[0] ?? 'a start statement failed'))
  }
  fs.rmSync(portFile)
  state = 'ready'
  tell(READY)
}

/** The parent has closed its end of the pipe, or has died. */
function stop(): void {
  // Nobody has been served yet, so nothing can be lost.
  if (state !== 'ready') exitNow(EXIT_STOPPED)
  state = 'stopping'
  terminal.endInput()
  // What is typed while the engine switches its terminal's mode is lost.
  setInterval(() => terminal.endInput(), RETYPE_MS)
  setTimeout(() => closeIdleConnections(port), DRAIN_MS)
  setTimeout(() => fail('forced to stop'), STOP_MS)
}

/** A function, because the compiler believes that `state` cannot change during an await. */
function hasStopped(): boolean {
  return state === 'stopping'
}

/** Gives a clear error before the engine is loaded. */
async function refuseTakenPort(): Promise<void> {
  await new Promise<void>((resolve) => {
    const probe = net.createServer()
    probe.on('error', (error) => fail(error.message, EXIT_PORT_TAKEN))
    probe.listen(port, HOST, () => probe.close(() => resolve()))
  })
}

function literal(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`
}

function firstLine(message: string): string {
  return message.split(/\r?\n/, 1)[0] ?? ''
}
