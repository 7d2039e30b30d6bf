/**
 * The child process in which the engine runs. It locks the data folder, waits for its configuration, runs a whole
 * ClickHouse on one HTTP port, and ends with its parent process.
 */
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { closeIdleConnections } from './close-connections.js'
import { exitNow, libc, loadEngine, runEngine } from './ffi.js'
import {
  EXIT_FAILED,
  EXIT_IN_USE,
  EXIT_PORT_TAKEN,
  EXIT_STOPPED,
  LOCK_FD,
  LOCKED,
  MESSAGE_PREFIX,
  READY,
  START,
  type LaunchOptions,
} from './protocol.js'
import { openPty } from './pty.js'

const HOST = '127.0.0.1'
const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 10_000
/** How long running queries have to finish before connections are closed for reading. */
const DRAIN_MS = 250
const END_INPUT_INTERVAL_MS = 200

const { engineDir, library, port, nativePort, holder } = JSON.parse(
  process.argv[2] ?? '',
) as LaunchOptions
const configFile = path.join(engineDir, 'config.xml')
/** The engine writes its port here once it listens. */
const portFile = path.join(engineDir, 'port')

process.umask(0o077)
process.on('uncaughtException', (error) => fail(error.stack ?? error.message))
lockEngineDir()

const pty = openPty()
let state: 'waiting' | 'starting' | 'ready' | 'stopping' = 'waiting'

// A service manager may signal every process of the service while the parent still has queries to finish. Only
// the parent ends the engine, by closing the pipe or by dying.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
listenToParent()
sendToParent(LOCKED)

/** Locks the folder and records the holder, or exits when another process holds the lock. */
function lockEngineDir(): void {
  if (!libc.tryFlock(LOCK_FD)) exitNow(EXIT_IN_USE)
  // Written first and truncated afterwards, so a process that fails to get the lock never reads an empty file.
  fs.ftruncateSync(LOCK_FD, fs.writeSync(LOCK_FD, JSON.stringify(holder), 0))
}

function listenToParent(): void {
  const parent = new net.Socket({ fd: pty.parent.stdin, readable: true, writable: false })
  parent.on('error', () => undefined)
  parent.on('close', stop)
  parent.setEncoding('utf8')
  parent.on('data', (line) => {
    if (state === 'waiting' && String(line).startsWith(START)) void start()
  })
}

function sendToParent(line: string): void {
  fs.writeSync(pty.parent.stdout, `${line}\n`)
}

async function start(): Promise<void> {
  state = 'starting'
  // Without its configuration the engine would still start, and be open to everyone.
  if (!fs.existsSync(configFile)) fail(`there is no ${configFile}`)
  await checkPort(port)
  if (nativePort !== undefined) await checkPort(nativePort)
  fs.rmSync(portFile, { force: true })
  loadEngine(library)
  pty.onOutput(checkPrompt)
  setTimeout(() => state === 'starting' && fail('not ready in time'), START_TIMEOUT_MS)
  const error = await runEngine(buildArguments())
  if (error !== undefined) report(firstLine(error))
  exitNow(isStopping() && error === undefined ? EXIT_STOPPED : EXIT_FAILED)
}

/** Exits with a clear error when the port is taken, before the engine is loaded. */
async function checkPort(wanted: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const probe = net.createServer()
    probe.on('error', (error) => fail(error.message, EXIT_PORT_TAKEN))
    probe.listen(wanted, HOST, () => probe.close(() => resolve()))
  })
}

const buildArguments = (): readonly string[] => [
  'clickhouse',
  `--config-file=${configFile}`,
  `--path=${path.join(engineDir, 'data')}`,
  `--listen_host=${HOST}`,
  `--http_port=${port}`,
  ...(nativePort === undefined ? [] : [`--tcp_port=${nativePort}`]),
  // Together with the pseudo-terminal, this keeps a client's reset from ending the process: see the README.
  '--interactive',
  '--disable_suggestion',
  '--highlight=0',
  '--progress=off',
  '--progress-table=off',
  '--history_file=/dev/null',
  '--query',
  `SYSTEM START LISTEN HTTP; ${nativePort === undefined ? '' : 'SYSTEM START LISTEN TCP; '}SELECT getServerPort('http_port') INTO OUTFILE ${quote(portFile)} TRUNCATE FORMAT TSV`,
]

/** The prompt appears when the start statements are done, or when one failed. After a failure there is no port file. */
function checkPrompt(output: string): void {
  if (state !== 'starting' || !output.includes(':) ')) return
  if (!fs.existsSync(portFile)) {
    fail(firstLine(/Code: \d+\. DB::.*/s.exec(output)?.[0] ?? 'a start statement failed'))
  }
  fs.rmSync(portFile)
  state = 'ready'
  sendToParent(READY)
}

/** Stops the engine after the parent has closed its end of the pipe or died. */
function stop(): void {
  // No client has been served yet, so nothing can be lost.
  if (state !== 'ready') exitNow(EXIT_STOPPED)
  state = 'stopping'
  pty.endInput()
  // Input is lost if it arrives while the engine switches the mode of its terminal, so ^D is sent repeatedly.
  setInterval(() => pty.endInput(), END_INPUT_INTERVAL_MS)
  setTimeout(closeConnections, DRAIN_MS)
  setTimeout(() => fail('forced to stop'), STOP_TIMEOUT_MS)
}

function closeConnections(): void {
  closeIdleConnections(port)
  if (nativePort !== undefined) closeIdleConnections(nativePort)
}

/** A function, because the compiler assumes that `state` cannot change during an await. */
function isStopping(): boolean {
  return state === 'stopping'
}

function report(message: string): void {
  try {
    fs.writeSync(2, `${MESSAGE_PREFIX}${message}\n`)
  } catch {
    // The parent has died, so nobody reads stderr.
  }
}

function fail(message: string, code = EXIT_FAILED): never {
  report(message)
  return exitNow(code)
}

function quote(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`
}

function firstLine(message: string): string {
  return message.split(/\r?\n/, 1)[0] ?? ''
}
