/** A panel: tabs, and below them the largest groups of the one that is open. */
import type { ComponentChildren } from 'preact'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type {
  QueryResponse,
  Query,
  RetentionResponse,
  Row,
  ShownMetric,
} from '../client/contract.js'
import { formatShare } from '../format/numbers.js'
import {
  computeChange,
  countsInPlace,
  formatDifference,
  METRICS,
  nameMetric,
  readValue,
} from '../queries/metrics.js'
import {
  findNextTab,
  getOpenTab,
  NEW_AND_RETURNING,
  RETENTION,
  toPropertyTab,
  type Panel as PanelInfo,
  type Tab,
} from '../queries/panels.js'
import { addFilter, openDetails, openTab, type Change } from '../state/changes.js'
import { listGoalMetrics } from '../state/state.js'
import { DetailsButtons } from './details.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { QueryMenu } from './query-menu.js'
import { Retention } from './retention-grid.js'
import { Change as ChangeOf, FieldValue, Value } from './value.js'

interface PanelProps extends Parts {
  readonly panel: PanelInfo
  readonly query: Query | undefined
  /** Event properties: a choice of tabs after those of the panel. */
  readonly properties?: readonly string[]
  /** What stands above the rows. */
  readonly children?: ComponentChildren
}

export function Panel({ panel, query, properties = [], children, ...parts }: PanelProps) {
  const { state, change } = parts
  const open = getOpenTab(panel, state.tabs)
  const tabs = listTabs(panel, open, properties)
  return (
    <section class="panel sheet" aria-label={panel.name} data-panel={panel.id}>
      <header>
        <h2>{panel.name}</h2>
        <div class="tabs" role="group" aria-label={`Tabs of ${panel.name}`}>
          {tabs
            .filter(({ group }) => group === undefined)
            .map(({ id, name }) => (
              <button
                key={id}
                aria-pressed={id === open.id}
                onClick={() => change(openTab(panel.id, id))}
              >
                {name}
              </button>
            ))}
          <TabGroup
            tabs={tabs.filter(({ group }) => group !== undefined)}
            open={open}
            onOpen={(id) => change(openTab(panel.id, id))}
          />
        </div>
        <QueryMenu {...parts} query={query} of={panel.name} />
      </header>
      {children}
      <Content {...parts} query={query} tab={open} />
    </section>
  )
}

interface TabGroupProps {
  readonly tabs: readonly Tab[]
  readonly open: Tab
  readonly onOpen: (id: string) => void
}

/** Tabs that are one choice; nothing if there are none. */
function TabGroup({ tabs, open, onOpen }: TabGroupProps) {
  const [first] = tabs
  if (first?.group === undefined) return null
  const chosen = tabs.find(({ id }) => id === open.id)?.id ?? ''
  return (
    <select
      class={chosen === '' ? '' : 'chosen'}
      aria-label={first.group}
      value={chosen}
      onChange={({ currentTarget: { value } }) => onOpen(value)}
    >
      <option value="" disabled hidden>
        {first.group}
      </option>
      {tabs.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** The tabs of a panel, with those of properties. The open one is there also if no event of the period has its property. */
function listTabs(panel: PanelInfo, open: Tab, properties: readonly string[]): readonly Tab[] {
  const own = [...panel.tabs, ...properties.map((name) => toPropertyTab(PROPERTY_PREFIX + name))]
  return own.some(({ id }) => id === open.id) ? own : [...own, open]
}

/** What the open tab shows. */
function Content({
  tab,
  query,
  ...parts
}: Omit<PanelProps, 'panel' | 'properties'> & { readonly tab: Tab }) {
  const shown = findShown<unknown>(parts, query)
  if (shown.kind === 'waiting') return <div class="loading" />
  if (shown.kind === 'failed') return <FailureNote {...parts} failure={shown.failure} />
  // The tab decides what was asked.
  if (tab.id === RETENTION) {
    return (
      <Retention
        response={shown.body as RetentionResponse}
        isOld={shown.isOld}
        change={parts.change}
      />
    )
  }
  const response = shown.body as QueryResponse
  return tab.id === NEW_AND_RETURNING ? (
    <NewAndReturning response={response} isOld={shown.isOld} />
  ) : (
    <>
      <Rows {...parts} tab={tab} response={response} isOld={shown.isOld} />
      {response.data.length > 0 && query !== undefined && (
        <DetailsButtons {...parts} tab={tab} query={query} response={response} />
      )}
    </>
  )
}

interface RowsProps extends Pick<Parts, 'state' | 'change' | 'site'> {
  readonly tab: Tab
  readonly response: QueryResponse
  readonly isOld: boolean
}

/** The rows of a tab. A click filters by one. */
function Rows({ tab, response, isOld, state, change, site }: RowsProps) {
  const { data, totals, comparison } = response
  const { id: field, metric, name } = tab
  const others = listGoalMetrics(state)
  if (data.length === 0)
    return <p class={isOld ? 'empty old' : 'empty'}>{describeNothing(state.filters.length > 0)}</p>
  const bars = data.map(({ group, metrics, comparison: compared }) => {
    const value = group[field] ?? ''
    const label = (
      <FieldValue {...{ field, value, site }} onFilter={() => change(filterByRow(tab, value))} />
    )
    return {
      group: value,
      label,
      count: metrics[metric] ?? 0,
      users: metrics.users ?? 0,
      before: compared?.metrics[metric] ?? undefined,
      change: compared?.change[metric] ?? undefined,
      others: others.map((one) => readValue(one, metrics[one], field)),
    }
  })
  return (
    <>
      <Bars
        title={name}
        metric={metric}
        others={others}
        isCompared={comparison !== undefined}
        bars={bars}
        longest={Math.max(...bars.map(({ count }) => count))}
        whole={totals?.metrics.users ?? 0}
        isOld={isOld}
        onOrder={(by) => change(openDetails(field, by))}
      />
      {others.length > 0 && countsInPlace(field) && (
        <p class="below quiet">
          Conversions count where they happen: on the page, at the event. A click on a row shows
          those of all visits with it, also where there is a dash.
        </p>
      )}
    </>
  )
}

/** Filters by a row. The panel then has one row, unless an event may have several values: it goes on to its next tab. */
const filterByRow =
  (tab: Tab, value: string): Change =>
  (state) => {
    const filtered = addFilter({ field: tab.id, operator: 'is', values: [value] })(state)
    const { panel, next } = findNextTab(tab.id)
    return next === undefined ? filtered : openTab(panel, next)(filtered)
  }

/** Says why there is no row. */
const describeNothing = (isFiltered: boolean): string =>
  isFiltered ? 'Nothing in this period matches the filters.' : 'Nothing in this period.'

interface NewAndReturningProps {
  readonly response: QueryResponse
  readonly isOld: boolean
}

/** How many of the users are new, and how many have been there before. */
function NewAndReturning({ response, isOld }: NewAndReturningProps) {
  const [row] = response.data
  const [all, isNew] = countUsers(row?.metrics)
  const [allBefore, newBefore] = countUsers(row?.comparison?.metrics)
  const bars = [
    toBar('New', isNew, newBefore, row?.comparison?.change['new_users']),
    toBar('Returning', all - isNew, allBefore - newBefore),
  ]
  return (
    <Bars
      title={<span class="hidden">Kind</span>}
      metric="users"
      isCompared={response.comparison !== undefined}
      bars={bars}
      longest={all}
      whole={all}
      isOld={isOld}
    />
  )
}

const countUsers = ({ users, new_users: isNew }: Partial<Row['metrics']> = {}) =>
  [users ?? 0, isNew ?? 0] as const

const toBar = (
  group: string,
  count: number,
  before: number,
  change: number | null | undefined = computeChange(count, before),
): Bar => ({
  group,
  label: <span class="label">{group}</span>,
  count,
  users: count,
  before,
  change: change ?? undefined,
})

interface Bar {
  /** The group, exactly. */
  readonly group: string
  readonly label: ComponentChildren
  readonly count: number
  readonly users: number
  /** Its count in the other period, and the change from there; undefined if there is none. */
  readonly before?: number | undefined
  readonly change?: number | undefined
  /** Its values of the other metrics. */
  readonly others?: readonly (number | null | undefined)[]
}

interface BarsProps {
  readonly isCompared: boolean
  /** What the groups are. */
  readonly title: ComponentChildren
  readonly metric: ShownMetric
  /** The metrics of further columns. */
  readonly others?: readonly ShownMetric[]
  readonly bars: readonly Bar[]
  /** The count whose bar has the full width. */
  readonly longest: number
  /** The users that shares are of: all that the filters leave. */
  readonly whole: number
  readonly isOld: boolean
  /** Shows all rows in the order of a metric; absent if these are all. */
  readonly onOrder?: ((metric: ShownMetric) => void) | undefined
}

/** Says what a change is in absolute numbers. */
const describeBefore = (metric: ShownMetric, count: number, before = 0): string =>
  `${formatDifference(metric, count - before)}, from ${METRICS[metric].format(before)}`

/** The change of a group; a word for one that the other period does not have. */
function ChangeOfBar({
  metric,
  count,
  before,
  change,
}: Pick<BarsProps, 'metric'> & Pick<Bar, 'count' | 'before' | 'change'>) {
  return before === 0 && count > 0 ? (
    <span class="quiet">new</span>
  ) : (
    <ChangeOf metric={metric} change={change} title={describeBefore(metric, count, before)} />
  )
}

/** Says what a share is in absolute numbers. */
const describeShare = (users: number, whole: number): string =>
  `${METRICS.users.format(users)} of ${METRICS.users.format(whole)} users`

/** The head of a column. A click shows all rows in its order: the largest of the panel may not be the first of them. */
function Head({ metric, onOrder }: Pick<BarsProps, 'metric' | 'onOrder'>) {
  const name = nameMetric(metric, '')
  return onOrder === undefined ? (
    name
  ) : (
    <button title={`All rows by ${name.toLowerCase()}`} onClick={() => onOrder(metric)}>
      {name}
    </button>
  )
}

/** A table of groups: each a bar, a value and the share of users in it. */
function Bars(props: BarsProps) {
  const { title, metric, others = [], isCompared, bars, longest, whole, isOld, onOrder } = props
  const head = (of: ShownMetric): ComponentChildren => <Head metric={of} onOrder={onOrder} />
  return (
    <table class={isOld ? 'rows old' : 'rows'}>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">{head(metric)}</th>
          <th scope="col" class="share">
            {metric === 'users' ? <span class="hidden">Share</span> : 'of users'}
          </th>
          {isCompared && (
            <th scope="col">
              <span class="hidden">Change</span>
            </th>
          )}
          {others.map((other) => (
            <th key={other} scope="col">
              {head(other)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map(({ group, label, count, before, change, others: values = [], users }) => (
          <tr key={group} data-value={group}>
            <th scope="row">
              <span
                class="fill"
                style={{ width: `${longest === 0 ? 0 : (100 * count) / longest}%` }}
              />
              {label}
            </th>
            <td>
              <Value metric={metric} value={count} />
            </td>
            <td class="share" title={describeShare(users, whole)}>
              {formatShare(users, whole)}
            </td>
            {isCompared && (
              <td>
                <ChangeOfBar {...{ metric, count, before, change }} />
              </td>
            )}
            {others.map((other, i) => (
              <td key={other}>
                <Value metric={other} value={values[i]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
