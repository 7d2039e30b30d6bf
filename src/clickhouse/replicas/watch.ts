/** Watches which replica of a store is active, and lets another one take over when it has fallen silent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../lib/time.js'
import { connect, type Connection } from '../connection.js'
import { getClickHouseReason, isUnreachable, StoreUnavailableError } from '../errors.js'
import { EXPIRY_MS, LeaseTimeoutError } from '../lease/lease.js'
import { isAlone } from '../replica-set.js'
import { LOOK_INTERVAL_MS, LOOK_TIMEOUT_MS, readChoice, recordAlone } from './choice.js'
import type { Look, Member, ReplicaSet } from '../endpoint.js'
import { endAlone, keepAlike, takeOver, type DerivedTables } from './take-over.js'

/** At how many looks all replicas are asked once. */
const LOOKS_OF_ALL = 8
/** From one attempt to take over to the next, and from one look at the tables of the standbys to the next. */
const PAUSE_MS = 5 * SECOND_MS

export interface WatchOptions {
  /** For a process that lets a replica take over, and keeps standbys like the active one: the tables that follow from others. */
  readonly keeps?: DerivedTables | undefined
  readonly onNotice?: ((level: 'info' | 'warn', text: string) => void) | undefined
  /** @param seconds for how long events have been stored on one disk only; 0 while they are on two */
  readonly onAlone?: ((seconds: number) => void) | undefined
}

export interface ReplicaWatch {
  /** Asks all replicas who is active. @throws StoreUnavailableError if the active one does not answer */
  readonly look: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Asks who is active, and takes note of the responses: the active replica, and if it does not answer, all of them. Returns why the active
 * one is not known to be active; undefined if it is. One that was chosen meanwhile says so itself before the choice is noted: until it
 * has, statements would be refused.
 */
async function lookAt(
  set: ReplicaSet,
  getConnection: (member: Member) => Connection,
  asksAll: boolean,
): Promise<string | undefined> {
  const failures = new Map<Member, string>()
  const find = ({ active }: Look): Member | undefined =>
    set.members.find(({ replica }) => replica.name === active)
  const ask = async (member: Member, timeoutMs = LOOK_TIMEOUT_MS): Promise<void> => {
    const begun = performance.now()
    const look = await readChoice(getConnection(member), timeoutMs).catch(
      (error: unknown) => void failures.set(member, describeFailure(error)),
    )
    const chosen = look && look.number > set.getLast().number ? find(look) : undefined
    const left = begun + timeoutMs - performance.now()
    if (chosen !== undefined && chosen !== member && left > 0) await ask(chosen, left)
    set.note(member, begun, look ?? undefined)
  }
  const begun = performance.now()
  const isSeen = (): boolean => set.getSeenAt() >= begun
  const first = find(set.getLast())
  const others = set.members.filter((member) => member !== first)
  // One that was silent may take its time to be silent again.
  const isSilent = first === undefined || !set.listAnswering().includes(first)
  if (first !== undefined && !isSilent) await ask(first)
  if (isSeen() && !asksAll) return undefined
  await Promise.all((isSilent ? set.members : others).map((member) => ask(member)))
  return isSeen()
    ? undefined
    : [...failures].map(([{ replica }, why]) => `replica ${replica.name}: ${why}`).join('; ')
}

const describeFailure = (error: unknown): string =>
  getClickHouseReason(error) ??
  (isUnreachable(error) ? 'it does not answer' : 'it does not answer in time')

/** Starts to watch. Looks go on until the watch is stopped, and do not keep the process alive. */
export function watchReplicas(set: ReplicaSet, options: WatchOptions = {}): ReplicaWatch {
  const connections = new Map<Member, Connection>()
  const getConnection = (member: Member): Connection => {
    const connection =
      connections.get(member) ?? connect(member, 'admin', { killsCancelled: false })
    connections.set(member, connection)
    return connection
  }
  const stopping = new AbortController()
  const keeper = options.keeps && createKeeper(set, options.keeps, options)
  let isAway = false
  const run = async (): Promise<void> => {
    for (let looks = 0; !stopping.signal.aborted; looks++) {
      const before = set.getLast()
      const failure = await lookAt(set, getConnection, looks % LOOKS_OF_ALL === 0)
      report(set, before, options)
      const { active, number } = set.getLast()
      if ((failure !== undefined) !== isAway && number > 0) {
        isAway = failure !== undefined
        const state = isAway ? `is away (${failure})` : 'answers'
        options.onNotice?.(isAway ? 'warn' : 'info', `the active replica, ${active}, ${state}`)
      }
      if (keeper !== undefined) {
        const [first] = set.listAnswering()
        if (first !== undefined) await noteAlone(getConnection(first), set.getLast())
        keeper.keep(failure === undefined)
      }
      await sleep(LOOK_INTERVAL_MS, undefined, { ref: false, signal: stopping.signal })
    }
  }
  const ended = run().catch(() => undefined)
  return {
    look: async () => {
      const failure = await lookAt(set, getConnection, true)
      if (failure !== undefined) throw new StoreUnavailableError(failure)
    },
    stop: async () => {
      stopping.abort()
      await ended
      await keeper?.stop()
      await Promise.all([...connections.values()].map((connection) => connection.close()))
    },
  }
}

/** Reports another choice, and when inserts are on one disk only. */
function report(set: ReplicaSet, before: Look, { onNotice, onAlone }: WatchOptions): void {
  const last = set.getLast()
  onAlone?.(last.aloneSeconds)
  if (last.number !== before.number) onNotice?.('info', `replica ${last.active} is active`)
  if (last.live === before.live || last.total < 2) return
  if (last.live < set.members.length) {
    onNotice?.('warn', `${last.live} of ${set.members.length} replicas reach Keeper`)
  } else onNotice?.('info', 'all replicas reach Keeper')
}

/** Records when events begin to be stored on one disk only. The keeper ends that, since the other replica has to fetch them first. */
async function noteAlone(connection: Connection, last: Look): Promise<void> {
  if (last.total < 2 || !isAlone(last) || last.aloneSeconds > 0) return
  await recordAlone(connection, true).catch(() => undefined)
}

interface Keeper {
  /** Does what is due, beside the looks. @param isAnswering whether the active replica answers */
  readonly keep: (isAnswering: boolean) => void
  /** Ends what is being done. */
  readonly stop: () => Promise<void>
}

/** Creates what takes over, aligns standbys and sees when they have everything, one thing at a time. */
function createKeeper(set: ReplicaSet, derived: DerivedTables, { onNotice }: WatchOptions): Keeper {
  let working: Promise<void> | undefined
  let aligning = new AbortController()
  let awaySince: number | undefined
  let dueAt = -Infinity
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      const isNews = error instanceof Error && !(error instanceof LeaseTimeoutError)
      if (isNews) onNotice?.('warn', error.message)
    }
    dueAt = performance.now() + PAUSE_MS
    working = undefined
  }
  const align = async (active: Member, standbys: readonly Member[]): Promise<void> => {
    aligning = new AbortController()
    const { signal } = aligning
    try {
      await keepAlike(active, standbys, signal)
      const last = set.getLast()
      if (last.aloneSeconds === 0 || isAlone(last)) return
      if (standbys.length < set.members.length - 1) return
      await endAlone(active, standbys, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
  return {
    keep: (isAnswering) => {
      const now = performance.now()
      if (isAnswering) awaySince = undefined
      else {
        awaySince ??= now
        aligning.abort(new Error('the active replica does not answer'))
      }
      const isLong = awaySince !== undefined && now - awaySince > EXPIRY_MS
      if (working !== undefined || (now < dueAt && !isLong)) return
      const last = set.getLast()
      const [first, ...others] = set.listAnswering()
      if (first === undefined || last.number === 0) return
      if (isAnswering) working = attempt(() => align(first, others))
      else if (isLong && first.replica.name !== last.active) {
        working = attempt(() => takeOver(first, last, derived))
      }
    },
    stop: async () => {
      aligning.abort(new Error('the watch was stopped'))
      await working
    },
  }
}
