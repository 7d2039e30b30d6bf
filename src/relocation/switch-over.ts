/** Copies the data of a relocation, and switches the directory once the targets have all of it. */
import { selectProject, withChanges } from '../changes/announce-change.js'
import type { Cluster } from '../cluster/cluster.js'
import { readNextNumber } from '../ingest/loader/load-log.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import { UserError } from '../lib/errors.js'
import { LEASE_TIMEOUT_MS } from '../rollups/process-months.js'
import type { KnownDigests } from './rows/digests.js'
import { recordDepartures } from './rows/departures.js'
import { requireRollups } from './begin-relocation.js'
import { withLeases } from './hold-leases.js'
import { copyImports } from './rows/imports.js'
import { isWidening, listSources, type Relocation } from './journal.js'
import type { Run } from './run.js'
import { emptyStagedRollups, stageAllRollups, stageRollups } from './rows/staged-rollups.js'
import { attachRows, requireSame, stageRows, type CopiedPartitions } from './rows/staging.js'
import { switchDirectory } from './switch-directory.js'
import type { Transfer } from './rows/transfer.js'
import { listTransfers, requireShard } from './transfers.js'

/** One attempt, which remembers what it has compared. */
interface Attempt extends Run {
  readonly known: KnownDigests
}

/** How often the data is compared and copied while the sources load. Each time there is less. */
const PASSES = 3

/**
 * Copies the data while the sources load; what has changed by then is copied while the loaders of the sources pause. Nothing of
 * an interrupted attempt does harm.
 */
export async function switchOver(given: Run, relocation: Relocation): Promise<void> {
  const run: Attempt = { ...given, known: new Map() }
  const { cluster, onProgress } = run
  const { shards, legs } = relocation
  await stageAll(run, relocation)
  const targets = legs.map(({ target }) => target)
  // A rebuild of rollups would swap in what it computed before the attachment.
  await withLeases(
    cluster,
    'rollups',
    targets,
    (fenced) => pauseSources({ ...run, cluster: fenced }, relocation),
    { waitMs: LEASE_TIMEOUT_MS },
  )
  onProgress(`the project lives on ${shards.join(', ')}`)
}

async function stageAll(run: Attempt, relocation: Relocation): Promise<void> {
  for (let pass = 0; pass < PASSES; pass++) {
    let copied = 0
    for (const transfer of listTransfers(run.cluster, relocation, run.known)) {
      const partitions = await stage(run, transfer)
      copied += partitions.size
      if (!isWidening(relocation)) continue
      if (pass > 0) await stageRollups(transfer, partitions)
      else {
        await emptyStagedRollups(transfer)
        await stageAllRollups(transfer)
      }
    }
    if (copied === 0) return
  }
}

async function stage({ onProgress }: Run, transfer: Transfer): Promise<CopiedPartitions> {
  const copied = await stageRows(transfer)
  for (const [table, { length }] of copied) {
    onProgress(`copied ${length} partitions of ${table} to ${transfer.target.name}`)
  }
  return copied
}

/** Goes on while the loaders of the sources pause. */
async function pauseSources(run: Attempt, relocation: Relocation): Promise<void> {
  const sources = listSources(relocation)
  run.onProgress(`the loaders of ${sources.join(', ')} load what waits, and pause`)
  await withLeases(run.cluster, 'loader', sources, async (cluster) => {
    const paused = { ...run, cluster }
    for (const name of sources) {
      const shard = requireShard(cluster, name)
      await loadWaiting(shard.store.writer, run.getContext(shard))
    }
    for (const transfer of listTransfers(cluster, relocation, run.known)) {
      await requireNumbers(transfer)
      const copied = await stageRows(transfer)
      if (isWidening(relocation)) await stageRollups(transfer, copied)
    }
    const targets = relocation.legs.map(({ target }) => target)
    await withLeases(cluster, 'loader', targets, (fenced) =>
      publish({ ...paused, cluster: fenced }, relocation),
    )
  })
}

async function requireNumbers({ source, base, last }: Transfer): Promise<void> {
  if (base + (await readNextNumber(source.store.writer)) <= last) return
  throw new UserError('this has taken too long: give it up with --abort, and begin again')
}

/** Switches while none of the shards loads. */
async function publish(run: Attempt, relocation: Relocation): Promise<void> {
  const { cluster, getContext, now } = run
  const transfers = listTransfers(cluster, relocation, run.known)
  const targets = transfers.map(({ target }) => target)
  // They may have been abandoned since the relocation began.
  await requireRollups([...transfers.map(({ source }) => source), ...targets])
  for (const target of targets) {
    await finishInterruptedWork(target.store.writer, getContext(target))
  }
  const attach = async (): Promise<void> => {
    for (const transfer of transfers) {
      await attachRows(transfer)
      if (!isWidening(relocation)) await copyImports(transfer)
      await requireSame(transfer)
    }
    if (isWidening(relocation)) await recordAllDepartures(cluster, relocation)
    await switchDirectory(cluster, relocation, now())
  }
  const [first] = targets
  const noticeMs = first === undefined ? undefined : getContext(first).noticeMs
  await withChanges(
    targets.map(({ store }) => store.writer),
    selectProject(relocation.projectId),
    attach,
    noticeMs,
  )
}

async function recordAllDepartures(cluster: Cluster, relocation: Relocation): Promise<void> {
  const { projectId, shards } = relocation
  for (const [index, name] of listSources(relocation).entries()) {
    const { store } = requireShard(cluster, name)
    await recordDepartures(store.writer, projectId, { index, width: shards.length })
  }
}
