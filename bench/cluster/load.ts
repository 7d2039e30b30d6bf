/** Loads events into one shard, and into several beside each other. */
import type { Cluster, Shard } from '../../src/cluster/cluster.js'
import { chooseShard } from '../../src/cluster/choose-shard.js'
import { importEvents } from '../../test/support/store/loading.js'
import { ARRIVAL, createFullEvent, streamChunks } from '../shared/loading.js'

const CHUNK = 10_000

/** Creates the NDJSON of the events of each shard. @param first the number of the first event */
export function createParts(events: number, first: number, width: number): readonly Buffer[][] {
  const placement = { shards: Array<string>(width).fill(''), formerWidths: [] }
  const lines = Array.from({ length: width }, (): string[] => [])
  for (let n = first; n < first + events; n++) {
    const event = createFullEvent(n)
    const sender = { user_id: String(event['user_id']) }
    lines[chooseShard(sender, placement, ARRIVAL)]!.push(`${JSON.stringify(event)}\n`)
  }
  return lines.map((part) =>
    Array.from({ length: Math.ceil(part.length / CHUNK) }, (_, i) =>
      Buffer.from(part.slice(i * CHUNK, (i + 1) * CHUNK).join('')),
    ),
  )
}

/** Loads each part into its shard, and returns the milliseconds of each. */
export const loadParts = (
  { shards }: Cluster,
  projectId: string,
  parts: readonly (readonly Buffer[])[],
): Promise<readonly number[]> =>
  Promise.all(parts.map((part, i) => loadPart(shards[i]!, projectId, part)))

export async function loadPart(
  { store }: Shard,
  projectId: string,
  part: readonly Buffer[],
): Promise<number> {
  const begun = performance.now()
  await importEvents(store, streamChunks(part), {
    now: ARRIVAL,
    projectId,
    onRejected: (rows) => {
      throw new Error(rows[0]?.reason)
    },
  })
  return performance.now() - begun
}
