/** Says how a project is doing: its events, what waits, what was rejected lately, and what is wrong with it. */
import { doClocksAgree, getEarliest, readClocks } from '../clickhouse/clocks.js'
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32 } from '../clickhouse/sql.js'
import { locate, locateInOrder, type Cluster } from '../cluster/cluster.js'
import { findEarliest, findLatest } from '../cluster/shard-reads.js'
import { decideCutoff } from '../deletion/cutoff.js'
import { readCutoffs } from '../deletion/cutoff-store.js'
import { HOLD_REASONS } from '../deletion/held-projects.js'
import { LATE_MS } from '../ingest/loader/loader-state.js'
import { formatDay, formatDuration, SECOND_MS } from '../lib/time.js'
import { findFirstEventTime, findNewestEventTime } from '../projects/event-times.js'
import type { StoredProject } from '../projects/project.js'
import { requireProject } from '../projects/store.js'
import { describeState, findRelocationWithin } from '../relocation/describe.js'
import { countRejected, type RejectedReason } from './read-usage.js'
import { readBetweenLoads, selectWaitingRows } from './waiting-rows.js'

export interface ProjectStatus {
  /** The time of the earliest event; null without events. */
  readonly firstEventAt: Date | null
  /** The time of the latest event up to now; null without events. */
  readonly lastEventAt: Date | null
  /** How many events wait to be loaded. */
  readonly waiting: number
  /** For how many seconds the oldest of them has waited; 0 if none does. */
  readonly lagSeconds: number
  readonly rejectedLately: {
    /** The number of days before the current one. */
    readonly days: number
    readonly reasons: Readonly<Record<RejectedReason, number>>
    /** The latest ones, at most 5. The rows of imports are not among them: their import reports them. */
    readonly samples: readonly RejectedSample[]
  }
  readonly problems: readonly ProjectProblem[]
}

/** A rejected row. */
interface RejectedSample {
  readonly at: Date
  readonly reason: string
  /** The start of its text, without IP addresses. */
  readonly line: string
}

/** What needs attention, or will change by itself: `deletion` and `relocation` are under way. */
interface ProjectProblem {
  readonly kind: 'deletion' | 'relocation' | 'late_events' | 'held_data'
  /** What is wrong, and what to do about it. */
  readonly message: string
}

/** How long rejected rows are kept. */
const REJECTED_DAYS = 7
const MAX_SAMPLES = 5
const MAX_SAMPLE_LENGTH = 1_000

/**
 * Reads the status of a project from its shards.
 *
 * @throws UserError if there is no such project, and the errors of a connection
 */
export async function readProjectStatus(
  cluster: Cluster,
  projectId: string,
  now: () => Date,
): Promise<ProjectStatus> {
  const project = await requireProject(cluster.home.store.reader, projectId)
  const shards = locate(cluster, project)
  const [firstEventAt, lastEventAt, waiting, reasons, samples] = await Promise.all([
    findEarliest(shards, ({ store }) => findFirstEventTime(store.reader, projectId)),
    findLatest(shards, ({ store }) => findNewestEventTime(store.reader, projectId, now())),
    // Events may wait on a shard that the project has left.
    Promise.all(cluster.shards.map(({ store }) => readWaiting(store.writer, projectId))),
    Promise.all(shards.map(({ store }) => readReasons(store.writer, projectId))),
    Promise.all(cluster.shards.map(({ store }) => readSamples(store.writer, projectId))),
  ])
  const lagMs = Math.max(...waiting.map(({ ageMs }) => ageMs))
  return {
    firstEventAt,
    lastEventAt,
    waiting: waiting.reduce((sum, { rows }) => sum + rows, 0),
    lagSeconds: Math.floor(lagMs / SECOND_MS),
    rejectedLately: {
      days: REJECTED_DAYS,
      reasons: countRejected((reason) =>
        reasons.flat().reduce((sum, one) => sum + (one.reason === reason ? one.rows : 0), 0),
      ),
      samples: samples
        .flat()
        .toSorted((one, other) => other.at.getTime() - one.at.getTime())
        .slice(0, MAX_SAMPLES),
    },
    problems: await findProblems(cluster, project, { firstEventAt, lagMs, now }),
  }
}

interface Waiting {
  readonly rows: number
  /** The age of the oldest row, in milliseconds by the clock of the store; 0 without rows. */
  readonly ageMs: number
}

async function readWaiting(writer: Connection, projectId: string): Promise<Waiting> {
  const waiting = statement(sql`
SELECT
  count() AS rows,
  if(rows = 0, 0, greatest(0, dateDiff('millisecond', min(received_at), now64(3, 'UTC')))) AS ageMs
FROM (${selectWaitingRows([projectId])})`)
  const { rows } = await readBetweenLoads(writer, () => writer.query<Waiting>(waiting))
  return rows[0] ?? { rows: 0, ageMs: 0 }
}

interface RejectedCount {
  readonly reason: string
  readonly rows: number
}

async function readReasons(
  writer: Connection,
  projectId: string,
): Promise<readonly RejectedCount[]> {
  const { rows } = await writer.query<RejectedCount>(
    statement(sql`
SELECT toString(reason) AS reason, sum(events) AS rows FROM usage
WHERE project_id = ${string(projectId)} AND day >= today() - ${uint32(REJECTED_DAYS)}
GROUP BY reason`),
  )
  return rows
}

/** Anything in a text that looks like an IP address: loads blank the field `ip`, but any other text may have one, too. */
const ADDRESS = string(
  String.raw`\b\d{1,3}(\.\d{1,3}){3}\b|(?i)(\b[0-9a-f]{1,4})?(:[0-9a-f]{0,4}){3,7}`,
)

async function readSamples(
  writer: Connection,
  projectId: string,
): Promise<readonly RejectedSample[]> {
  const { rows } = await writer.query<Omit<RejectedSample, 'at'> & { readonly at: number }>(
    statement(sql`
SELECT
  toUnixTimestamp(rejected_at) AS at, leftUTF8(reason, ${uint32(MAX_SAMPLE_LENGTH)}) AS reason,
  leftUTF8(replaceRegexpAll(line, ${ADDRESS}, '…'), ${uint32(MAX_SAMPLE_LENGTH)}) AS line
FROM rejections
WHERE batch = '' AND project_id = ${string(projectId)}
ORDER BY rejected_at DESC, row LIMIT ${uint32(MAX_SAMPLES)}`),
  )
  return rows.map((row) => ({ ...row, at: new Date(row.at * SECOND_MS) }))
}

interface ProblemFacts {
  readonly firstEventAt: Date | null
  readonly lagMs: number
  readonly now: () => Date
}

async function findProblems(
  cluster: Cluster,
  project: StoredProject,
  { firstEventAt, lagMs, now }: ProblemFacts,
): Promise<readonly ProjectProblem[]> {
  const { id, isDeleting } = project
  const problems: ProjectProblem[] = []
  if (isDeleting) problems.push({ kind: 'deletion', message: 'the project is being deleted' })
  const relocation = await findRelocationWithin(cluster, id)
  if (relocation !== undefined) {
    const message = `the project ${describeState(relocation)}`
    problems.push({ kind: 'relocation', message })
  }
  if (lagMs > LATE_MS) {
    const message = `the oldest event waits for ${formatDuration(lagMs)}: run "tallyhouse doctor"`
    problems.push({ kind: 'late_events', message })
  }
  const held = isDeleting ? undefined : await findHold(cluster, project, firstEventAt, now)
  if (held !== undefined) problems.push({ kind: 'held_data', message: held })
  return problems
}

/** Says why a project has data that should be deleted by the clock; undefined if it has none. */
async function findHold(
  cluster: Cluster,
  project: StoredProject,
  firstEventAt: Date | null,
  now: () => Date,
): Promise<string | undefined> {
  const { id, keepDays } = project
  if (keepDays === null || firstEventAt === null) return undefined
  const shards = locateInOrder(cluster, project)
  const clocks = await Promise.all(shards.map(({ store }) => readClocks(store.lookups, now)))
  if (!clocks.every(doClocksAgree)) {
    return 'the clocks of this host and the store differ, so no data is deleted: synchronize them'
  }
  const time = getEarliest(clocks)
  const newest = await findLatest(shards, ({ store }) =>
    findNewestEventTime(store.lookups, id, time),
  )
  if (newest === null) return undefined
  const [first] = shards
  const last = first && (await readCutoffs(first.store.writer)).get(id)
  const { hold, due } = decideCutoff({ now: time, keepDays, newest, last })
  return hold === undefined || firstEventAt >= due
    ? undefined
    : `data from before ${formatDay(due)} is kept longer than ${keepDays} days, because ${HOLD_REASONS[hold]}`
}
