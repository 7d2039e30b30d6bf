/**
 * Lets the embedded engine replicate, for tests only. It has all of replication, but its start neither sets the address on
 * which replicas ask each other for parts nor serves that address (ClickHouse issue 78632). Node loads this file before the
 * launcher; when the launcher opens libchdb, four places of its code are overwritten in memory. They are those of one build,
 * so `describeBuild` compares the bytes first.
 */
import { Buffer } from 'node:buffer'
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'

/** What stands at each place of the build, by its address in the library. */
const ORIGINAL = {
  /** Returns the address of this replica; throws if there is none. */
  address: [0x1417c9c0, '4156534883ec484c8b36490fbe8e670100004885c9498b9658010000'],
  /** Returns the scheme of the address. */
  scheme: [0x1417cac0, '488b0680b88701000000781a480570010000488b481048894f10c5f8'],
  /** Returns the credentials of replicas; null, which the caller does not expect. */
  credentials: [0x1417c940, '41574156534c8b3f498d9f880100004889dfe8a903da0c4d8bb7b001'],
  /** Jumps if the name of a listener is that of clients. */
  listener: [0x18395d32, '0f84c202000084c90f98c24883f820400f94c64020d64080fe01'],
  /** Fills up the end of a function. */
  padding: [0x18395c90, 'cc'.repeat(25)],
}
/** The code that makes a listener for clients, and the one that makes a listener for replicas. */
const FOR_CLIENTS = 0x18395ffa
const FOR_REPLICAS = 0x18395dbc
/** Zeros that belong to the library and that nothing uses: the rest of the last page of its variables. */
const SPARE = 0x22b98900

/** Returns why the build is not the one that is known; undefined if it is. `read` returns bytes of the library. */
export function findDifference(read) {
  const differing = Object.entries(ORIGINAL).find(
    ([, [at, bytes]]) => read(at, bytes.length / 2).toString('hex') !== bytes,
  )
  return differing && `another build of libchdb: its ${differing[0]} is elsewhere`
}

/** The code of libchdb begins here in the file, and is loaded here. */
const CODE_SHIFT = 0x1000

/** Returns why the library in a file is not the known build; undefined if it is. */
export function describeFile(library) {
  const file = openSync(library, 'r')
  try {
    return findDifference((at, length) => {
      const bytes = Buffer.alloc(length)
      readSync(file, bytes, 0, length, at - CODE_SHIFT)
      return bytes
    })
  } finally {
    closeSync(file)
  }
}

const int = (value, bytes) => {
  const buffer = Buffer.alloc(bytes)
  buffer[bytes === 8 ? 'writeBigUInt64LE' : bytes === 4 ? 'writeInt32LE' : 'writeUInt16LE'](
    bytes === 8 ? BigInt(value) : value,
  )
  return buffer.toString('hex')
}

/** Code that writes a short text, as libc++ stores it, to where `rdi` points, and returns `rdi`. */
function writeText(text) {
  const bytes = Buffer.alloc(24)
  bytes.write(text)
  bytes[23] = text.length
  const words = [0, 8, 16].map(
    (at) =>
      `48b9${bytes.subarray(at, at + 8).toString('hex')}48894f${Buffer.of(at).toString('hex')}`,
  )
  return `4889f8${words.join('')}`
}

/** Returns what to write where: pairs of an address in the library and bytes. */
function buildPatches({ host, port }, base) {
  const [at] = ORIGINAL.padding
  const to = (target, from) => int(target - from, 4)
  return [
    [ORIGINAL.address[0], `${writeText(host)}66c74718${int(port, 2)}c3`],
    [ORIGINAL.scheme[0], `${writeText('http')}c3`],
    [ORIGINAL.credentials[0], `48b8${int(base + SPARE + 0x10, 8)}31d2c3`],
    // The list of valid credentials: one pair of empty texts.
    [SPARE + 0x40, [0x80, 0xb0, 0xb0].map((offset) => int(base + SPARE + offset, 8)).join('')],
    [ORIGINAL.listener[0], `0f84${to(at, ORIGINAL.listener[0] + 6)}`],
    // Every second listener is for replicas: that of the second host.
    [at, `8035${to(SPARE, at + 7)}010f84${to(FOR_REPLICAS, at + 13)}e9${to(FOR_CLIENTS, at + 18)}`],
  ]
}

function findBase() {
  const line = readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .find((one) => one.includes('libchdb.so'))
  return Number.parseInt(line, 16)
}

function patch(address) {
  const memory = openSync('/proc/self/mem', 'r+')
  const base = findBase()
  const difference = findDifference((at, length) => {
    const bytes = Buffer.alloc(length)
    readSync(memory, bytes, 0, length, base + at)
    return bytes
  })
  if (difference !== undefined) throw new Error(difference)
  for (const [at, bytes] of buildPatches(address, base)) {
    writeSync(memory, Buffer.from(bytes, 'hex'), 0, bytes.length / 2, base + at)
  }
  closeSync(memory)
}

/** Set for the launcher of a replica: the host and port on which other replicas ask it. */
const { REPLICA_ADDRESS } = process.env
if (REPLICA_ADDRESS !== undefined) {
  const ffi = createRequire(import.meta.resolve('ffi-rs'))('ffi-rs')
  const { open, load } = ffi
  const [host, port] = REPLICA_ADDRESS.split(':')
  ffi.open = (library) => {
    open(library)
    if (library.library === 'chdb') patch({ host, port: Number(port) })
  }
  // The configuration has both hosts to listen on.
  ffi.load = (call) => {
    if (call.funcName !== 'chdb_query_cmdline') return load(call)
    const args = call.paramsValue[1].filter((arg) => !arg.startsWith('--listen_host'))
    return load({ ...call, paramsValue: [args.length, args] })
  }
}
