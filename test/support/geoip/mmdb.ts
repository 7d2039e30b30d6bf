/** Writes files in MaxMind's database format, with the few networks that a test names. */
import ipaddr from 'ipaddr.js'

type Value =
  string | number | bigint | boolean | readonly Value[] | { readonly [key: string]: Value }

export interface MmdbSettings {
  /** 4 for a database of IPv4 only; otherwise IPv4 networks are under `::/96`. */
  readonly ipVersion?: 4 | 6
  readonly databaseType?: string
}

const TYPE = { map: 7, string: 2, uint16: 5, uint32: 6, uint64: 9, array: 11, boolean: 14 } as const

/** Writes the control bytes of a value: its type and its size, which may be up to 284. */
function encodeControlBytes(type: number, size: number): Buffer {
  if (size > 284) throw new RangeError('larger than a test needs')
  const short = Math.min(size, 29)
  const rest = size < 29 ? [] : [size - 29]
  return Buffer.from(type > 7 ? [short, type - 7, ...rest] : [(type << 5) | short, ...rest])
}

function encodeInteger(type: number, value: number | bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([encodeControlBytes(type, bytes.length), bytes])
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    return Buffer.concat([encodeControlBytes(TYPE.string, bytes.length), bytes])
  }
  if (typeof value === 'bigint') return encodeInteger(TYPE.uint64, value)
  if (typeof value === 'number')
    return encodeInteger(value > 0xffff ? TYPE.uint32 : TYPE.uint16, value)
  if (typeof value === 'boolean') return encodeControlBytes(TYPE.boolean, value ? 1 : 0)
  if (Array.isArray(value)) {
    const items = value as readonly Value[]
    return Buffer.concat([encodeControlBytes(TYPE.array, items.length), ...items.map(encode)])
  }
  const entries = Object.entries(value)
  return Buffer.concat([
    encodeControlBytes(TYPE.map, entries.length),
    ...entries.flat().map(encode),
  ])
}

/** A node of the tree: for each bit the next node, the offset of a record in the data, or nothing. */
type Branch = number | Node | undefined
type Node = [Branch, Branch]

/** Returns the bits of a network in a tree of this IP version. */
function listBits(network: string, ipVersion: 4 | 6): number[] {
  const [address, length] = ipaddr.parseCIDR(network)
  const bits = address
    .toByteArray()
    .flatMap((byte) => Array.from(byte.toString(2).padStart(8, '0')))
  const before = ipVersion === 6 && address.kind() === 'ipv4' ? 96 : 0
  return [...Array<number>(before).fill(0), ...bits.slice(0, length).map(Number)]
}

/** Writes a file with one record per network; networks must not overlap: `{ '192.0.2.0/24': { … } }`. */
export function buildMmdb(
  networks: Readonly<Record<string, Value>>,
  { ipVersion = 6, databaseType = 'Test-City' }: MmdbSettings = {},
): Buffer {
  const root: Node = [undefined, undefined]
  const nodes: Node[] = [root]
  const records: Buffer[] = []
  let written = 0
  for (const [network, record] of Object.entries(networks)) {
    const bits = listBits(network, ipVersion)
    const last = bits.pop() ?? 0
    let node = root
    for (const bit of bits) {
      let next = node[bit]
      if (next === undefined) {
        next = [undefined, undefined]
        nodes.push(next)
        node[bit] = next
      }
      if (typeof next === 'number') throw new RangeError(`${network} overlaps another`)
      node = next
    }
    node[last] = written
    const bytes = encode(record)
    records.push(bytes)
    written += bytes.length
  }
  const pointer = (branch: Branch): number => {
    if (branch === undefined) return nodes.length
    return typeof branch === 'number' ? nodes.length + 16 + branch : nodes.indexOf(branch)
  }
  const tree = Buffer.alloc(nodes.length * 6)
  nodes.forEach(([left, right], at) => {
    tree.writeUIntBE(pointer(left), at * 6, 3)
    tree.writeUIntBE(pointer(right), at * 6 + 3, 3)
  })
  const metadata = encode({
    ...{ binary_format_major_version: 2, binary_format_minor_version: 0, build_epoch: 1767225600n },
    ...{ database_type: databaseType, description: { en: 'For tests' }, ip_version: ipVersion },
    ...{ languages: ['en'], node_count: nodes.length, record_size: 24 },
  })
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...records, marker, metadata])
}
