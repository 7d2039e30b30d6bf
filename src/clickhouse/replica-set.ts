/** The replicas of one store, and what this process knows of them. One is active: it answers queries, and has the leases. */
import { setMaxListeners } from 'node:events'
import { SECOND_MS } from '../lib/time.js'
import type { Endpoint, Look, Member, ReplicaSet } from './endpoint.js'
import { StoreUnavailableError } from './errors.js'

/**
 * How long the active replica is trusted after it said that it is the active one. Shorter than the silence after which another one may
 * take over.
 */
const TRUST_MS = 8 * SECOND_MS

const UNKNOWN: Look = { number: 0, active: '', total: 0, live: 0, aloneSeconds: 0 }

/**
 * Describes a store of several replicas. Nothing is asked: see `watchReplicas`.
 *
 * @param endpoint what the replicas have in common; its address is that of none
 * @param path the path of the store in Keeper
 */
export function createReplicaSet(
  endpoint: Omit<Endpoint, 'url'>,
  path: string,
  replicas: readonly { readonly name: string; readonly url: string }[],
): ReplicaSet {
  let last = UNKNOWN
  let seenAt = -Infinity
  let leaving = createSignal()
  let falling = createSignal()
  // While one of two is away, events are stored on the other one alone. With three, two remain.
  const getQuorum = (): number => (isAlone(last) ? 1 : 2)
  const members = replicas.map(({ name, url }): Member => ({
    ...endpoint,
    url,
    replica: { name, path, getQuorum },
  }))
  // Until it is asked, each counts as silent.
  const silent = new Set(members)
  const findActive = () => members.find(({ replica }) => replica.name === last.active)
  const choose = (look: Look): void => {
    const former = findActive()
    const [isChange, hasFallen] = [look.number !== last.number, isAlone(look) && !isAlone(last)]
    last = look
    if (hasFallen) {
      falling.abort(new QuorumFellError())
      falling = createSignal()
    }
    if (!isChange) return
    seenAt = -Infinity
    // What runs on a replica that answers may come to its end.
    if (former !== undefined && silent.has(former)) leaving.abort(new ReplicaLeftError(former))
    leaving = createSignal()
  }
  const listToWrite = (): readonly Member[] => sortToWrite(members, findActive(), silent)
  return {
    members,
    path,
    getQuorum,
    getQuorumSignal: () => falling.signal,
    getLast: () => last,
    listToWrite,
    listAnswering: () => listToWrite().filter((member) => !silent.has(member)),
    getSeenAt: () => seenAt,
    getActive: () => {
      const member = findActive()
      if (member === undefined || performance.now() - seenAt > TRUST_MS) {
        throw new StoreUnavailableError('no replica says that it is the active one')
      }
      return { member, left: leaving.signal }
    },
    note: (from, begunAt, look) => {
      if (look === undefined) return void silent.add(from)
      silent.delete(from)
      // A replica that has lost Keeper may have an old row. The response to the first of two looks may come last.
      if (look.number < last.number) return
      choose(look)
      if (from === findActive()) seenAt = Math.max(seenAt, begunAt)
    },
  }
}

/** Whether events are stored on one disk only: one of two replicas reaches Keeper. A store that is being created has one, too. */
export const isAlone = ({ live, total }: Look): boolean => live < 2 && total < 3

/** Puts the active replica first, and those that do not answer last. */
function sortToWrite(
  members: readonly Member[],
  active: Member | undefined,
  silent: ReadonlySet<Member>,
): readonly Member[] {
  const rank = (member: Member): number =>
    (silent.has(member) ? 2 : 0) + (member === active ? 0 : 1)
  return members.toSorted((one, other) => rank(one) - rank(other))
}

/** Many statements listen at once. */
function createSignal(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

/** The replica that ran a statement has fallen silent, and another one has taken over. */
class ReplicaLeftError extends StoreUnavailableError {
  constructor({ replica }: Member) {
    super(`replica ${replica.name} does not answer, and another one has taken over`)
  }
}

/** An insert waits for a replica that does not reach Keeper any more. It may be stored on the others. */
class QuorumFellError extends StoreUnavailableError {
  constructor() {
    super('a replica is away, and inserts do not wait for it any more')
  }
}
