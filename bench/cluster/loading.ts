/** Measures how fast one engine and several load events, each engine bound to a core of its own if there are enough. */
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import { createProject } from '../../src/projects/store.js'
import { withDataFolder } from '../shared/data-folder.js'
import { formatTenths, formatWhole, printMachine, printTable } from '../shared/figures.js'
import { readCpu, startEngines, type BenchCluster } from './engines.js'
import { createParts, loadParts } from './load.js'

const LOADED = Number(process.env['LOADED'] ?? 400_000)
const SHARDS = Number(process.env['SHARDS'] ?? 2)
const RUNS = Number(process.env['RUNS'] ?? 3)
const NOW = new Date()

/** Binds each engine to a core, so that one engine has as much as each of several. */
function bindToCores({ engines }: BenchCluster): void {
  if (engines.length > os.availableParallelism()) {
    console.log('there are fewer cores than engines: they share them')
    return
  }
  engines.forEach(({ pid }, core) => execFileSync('taskset', ['-acp', `${core}`, `${pid}`]))
}

/** Loads events that were not loaded before. @param run its number */
async function measureRun(
  cluster: BenchCluster,
  width: number,
  run: number,
): Promise<readonly string[]> {
  const parts = createParts(LOADED, 6e7 + run * 1e7, width)
  const before = await readCpu(cluster)
  const times = await loadParts(cluster, 'loaded', parts)
  const cpu = (await readCpu(cluster)) - before
  return [
    `${width}`,
    formatWhole(LOADED / (Math.max(...times) / 1_000)),
    times.map((ms) => formatTenths(ms / 1_000)).join(' · '),
    formatTenths(cpu),
  ]
}

async function run(dataDir: string): Promise<void> {
  const cluster = await startEngines(dataDir, SHARDS, [])
  try {
    bindToCores(cluster)
    for (const { store } of cluster.shards) {
      await createProject(store, { id: 'loaded', name: 'L', domain: 'b.example' }, new Date(0))
    }
    await loadParts(cluster, 'loaded', createParts(5_000, 5e7, SHARDS))
    const lines: (readonly string[])[] = []
    for (let i = 0; i < RUNS; i++) {
      lines.push(await measureRun(cluster, 1, 2 * i))
      lines.push(await measureRun(cluster, SHARDS, 2 * i + 1))
    }
    await printMachine(NOW)
    console.log(`${formatWhole(LOADED)} events each time, each shard its part:\n`)
    printTable(['shards', 'events/s', 'seconds of each', 'CPU seconds of the engines'], lines)
  } finally {
    await cluster.stop()
  }
}

await withDataFolder(run)
