/** Formats plans as tables: what is read and why nothing cheaper. */
import type {
  ConsideredWay,
  NewUsersDescription,
  PlanDescription,
  Read,
} from '../../analytics/plan/plan.js'
import type { Period } from '../../contract/api.js'
import { listKeys } from '../../lib/records.js'
import { formatList, formatTable } from '../shared/output.js'

const FILTERED_BY: Readonly<Record<NonNullable<Read['filteredBy']>, string>> = {
  columns: 'its columns',
  entry: 'the entry page of the visit',
  value: 'the value it counts by',
  events: 'the events of each session',
}

/** Relations that are not called by the name of one table. */
const LABELS: Readonly<Partial<Record<Read['relation'], string>>> = {
  whole_sessions: 'sessions, and events of those that cross an edge of the period',
}

/** Formats a plan without those that it contains, but with those of its new users and conversions. */
export const formatPlan = ({
  reads,
  rejected,
  considered,
  newUsers,
  conversions = [],
}: PlanDescription): readonly string[] => [
  formatTable([['READ', 'BY', 'FOR', 'FILTERED BY', 'PERIOD'], ...reads.flatMap(formatRead)]),
  ...(rejected.length === 0 ? [] : [formatRejected(rejected)]),
  ...(considered.length === 0 ? [] : [formatConsidered(considered)]),
  ...formatNewUsers(newUsers),
  ...conversions.flatMap((one) => ['conversions of a goal', ...formatPlan(one)]),
]

/** What each part of counting new users is for. */
const NEW_USERS: Readonly<Record<keyof NewUsersDescription, string>> = {
  users: 'new users: the users of each group',
  everyone: 'new users: the users of each bucket, whatever their events are',
  earlier: 'new users: the users before the period',
}

/** Formats the plans by which new users are counted. */
export const formatNewUsers = (parts: NewUsersDescription | undefined): readonly string[] =>
  listKeys(NEW_USERS).flatMap((name) => {
    const part = parts?.[name]
    return part === undefined ? [] : [NEW_USERS[name], ...formatPlan(part)]
  })

/** Formats one line for a relation, and another for each further part of the period. */
function formatRead(read: Read): readonly (readonly string[])[] {
  const { relation, dimension = '-', measures, filteredBy, periods, onlyIf } = read
  const condition = onlyIf === undefined ? '' : ', if there are several'
  const first = [
    LABELS[relation] ?? relation,
    dimension,
    `${formatPurpose(measures)}${condition}`,
    filteredBy === null ? '-' : FILTERED_BY[filteredBy],
  ]
  return periods.map((period, i) => [
    ...(i === 0 ? first : first.map(() => '')),
    formatPeriodText(period),
  ])
}

const formatRejected = (rejected: PlanDescription['rejected']): string =>
  formatTable([
    ['NOT READ', 'FOR', 'REASON'],
    ...rejected.map(({ relation, measures, reason }) => [
      LABELS[relation] ?? relation,
      formatPurpose(measures),
      reason,
    ]),
  ])

/** Formats the ways of reading that were compared. */
export const formatConsidered = (considered: PlanDescription['considered']): string =>
  formatTable([
    ['WAY', 'ESTIMATED CPU MS', ...(considered.some(isWide) ? ['ON SHARDS', 'ASKING'] : []), ''],
    ...considered.map((way) => [
      way.name,
      String(way.ms),
      ...(isWide(way) ? [way.ms - way.askingMs, way.askingMs].map((ms) => ms.toFixed(1)) : []),
      way.isChosen ? 'chosen' : '',
    ]),
  ])

const isWide = (way: ConsideredWay): way is ConsideredWay & { readonly askingMs: number } =>
  way.askingMs !== undefined

const formatPurpose = (measures: readonly string[]): string =>
  measures.length === 0 ? 'the groups' : formatList(measures)

export const formatPeriodText = ({ from, to }: Period): string => `${from} to ${to}`
