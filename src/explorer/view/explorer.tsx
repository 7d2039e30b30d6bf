/** The page with its numbers. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Access } from '../client/access.js'
import type { Api } from '../client/api.js'
import type { Query, ValuesResponse } from '../client/contract.js'
import { buildQueries, PROPERTIES, SINCE, VALUE } from '../queries/build-queries.js'
import { DETAILS, DETAILS_VALUES } from '../queries/details.js'
import type { KnownValues } from '../queries/filters.js'
import { FUNNEL } from '../queries/funnel.js'
import { JOURNEYS } from '../queries/journeys.js'
import { NUMBERS } from '../queries/numbers.js'
import { PANELS } from '../queries/panels.js'
import { divide, type AllTime } from '../state/intervals.js'
import { Bar } from './bar.js'
import { Cards } from './cards.js'
import { ChartSection } from './chart-section.js'
import { MAIN_ID } from './controls.js'
import { DetailsDialog } from './details.js'
import { FunnelDialog, type FunnelDialogProps } from './funnel-dialog.js'
import { JourneysDialog } from './journeys-dialog.js'
import { Numbers } from './numbers.js'
import { Panel } from './panel.js'
import { PaperHeader } from './paper-header.js'
import { FailureNote, findCommonFailure, findShown, type Parts } from './parts.js'
import { FirstEvent, useProject } from './project.js'
import { Shortcuts } from './shortcuts.js'
import { useAddress } from './use-address.js'
import { useAskedState } from './use-asked-state.js'
import { useGoalValue, useValuedGoal } from './use-goal-value.js'
import { useList } from './use-list.js'
import { useResponses } from './use-responses.js'

interface ExplorerProps {
  readonly browser: Window
  readonly now: () => Date
  readonly access: Access
  readonly api: Api
  /** Called if the key of the page is not accepted. */
  readonly onKeyRefused: (message: string) => void
}

export function Explorer({ browser, now, access, api, onKeyRefused }: ExplorerProps) {
  const [inAddress, change] = useAddress(browser)
  const [state, setValued] = useValuedGoal(inAddress)
  const [known, setKnown] = useState<KnownValues>()
  const [allTime, setAllTime] = useState<AllTime>()
  const { name, project, zone: ownZone } = useProject(api, access, browser, () => responses.renew())
  const zone = state.zone ?? ownZone
  const division = divide(state, zone, now(), allTime)
  const asked = useAskedState(state, division.asked, zone, browser, now)
  // Without a key the page does not know its project.
  const asksSince = access.key === undefined
  const goals = useList(api, project?.id, 'goals')
  const asksValue = goals.find((one) => one.name === state.goal)?.value !== null
  const build = () => buildQueries(asked, { known, asksSince, asksValue })
  const queries = useMemo(build, [asked, known, asksSince, asksValue])
  const responses = useResponses(api, queries, browser, now)
  const { failure, isAsking } = responses
  useEffect(() => {
    if (failure?.needsKey === true && access.key !== undefined) onKeyRefused(failure.message)
  }, [failure])
  const find = (id: string) => queries.find((one) => one.id === id)
  const properties = readProperties({ responses }, find(PROPERTIES))
  useKnownValues({ responses }, find(DETAILS_VALUES), setKnown)
  const common = findCommonFailure({ responses }, queries)
  const atTop = failure ?? common
  const since = project?.firstEventAt ?? findBeginning({ responses }, find(SINCE.id))
  const site = project && `https://${project.domain}`
  const parts = { state, change, ownZone, responses, access, api, common, since, site }
  const source = { state: asked, api, now, properties, projectId: project?.id }
  useAllTime(parts, find('cards'), setAllTime)
  const hasCurrencies = useGoalValue(parts, find(VALUE), setValued)
  return (
    <>
      <PaperHeader {...parts} name={name} totals={find('cards')} />
      <Bar
        {...parts}
        {...{ source, project, name, goals }}
        totals={find('cards')}
        live={find('now')}
      />
      <main id={MAIN_ID} tabIndex={-1} aria-busy={isAsking}>
        {atTop !== undefined && <FailureNote failure={atTop} responses={responses} />}
        {project?.firstEventAt === null && <FirstEvent project={project} base={access.base} />}
        <div class="sheet">
          <Cards {...parts} {...{ source, hasCurrencies }} query={find('cards')} />
          <ChartSection
            {...parts}
            projectId={project?.id}
            query={find('chart')}
            division={division}
          />
        </div>
        <Panels {...parts} {...{ queries, properties, source }} />
      </main>
      <Shortcuts browser={browser} change={change} />
      <Dialogs {...parts} {...{ queries, known, source }} />
    </>
  )
}

interface PanelsProps extends Parts, Pick<FunnelDialogProps, 'source'> {
  readonly queries: readonly Query[]
  /** The names of the event properties. */
  readonly properties: readonly string[]
}

/** All panels. With more columns they are laid out otherwise. */
function Panels({ queries, properties, source, ...parts }: PanelsProps) {
  const { goal, hasValue = false } = parts.state
  const layout = goal === undefined ? '' : hasValue ? ' of-goal of-value' : ' of-goal'
  const find = (wanted: string) => queries.find(({ id }) => id === wanted)
  const numbers = find(NUMBERS)
  return (
    <div class={`panels${layout}`}>
      {PANELS.map((panel) => (
        <Panel
          key={panel.id}
          {...parts}
          panel={panel}
          query={find(panel.id)}
          properties={panel.id === 'events' ? properties : []}
        >
          {panel.id === 'events' && numbers !== undefined && (
            <Numbers {...parts} source={source} query={numbers} />
          )}
        </Panel>
      ))}
    </div>
  )
}

interface DialogsProps extends Parts, Pick<FunnelDialogProps, 'source'> {
  readonly queries: readonly Query[]
  readonly known: KnownValues | undefined
}

/** The dialogs of the state. */
function Dialogs({ queries, known, source, ...parts }: DialogsProps) {
  const find = (id: string) => queries.find((one) => one.id === id)
  return (
    <>
      <FunnelDialog {...parts} query={find(FUNNEL)} source={source} />
      <JourneysDialog {...parts} query={find(JOURNEYS)} source={source} />
      <DetailsDialog {...parts} rows={find(DETAILS)} values={find(DETAILS_VALUES)} known={known} />
    </>
  )
}

/** The names of the properties that events have; none until they are known. */
function readProperties(
  { responses }: Pick<Parts, 'responses'>,
  query: Query | undefined,
): readonly string[] {
  const named = findShown<ValuesResponse>({ responses }, query)
  return named.kind === 'ready' ? named.body.data.map(({ value }) => value) : []
}

/** Reads from the response about all time when the first event was; undefined while that is not known, or there is none. */
function findBeginning(
  { responses }: Pick<Parts, 'responses'>,
  query: Query | undefined,
): string | undefined {
  const shown = findShown({ responses }, query)
  if (shown.kind !== 'ready') return undefined
  const { data, period } = shown.body
  return data.some(({ metrics }) => metrics.events !== 0) ? period.from : undefined
}

/**
 * Learns from responses when all time starts and ends, on which the intervals of the chart depend.
 *
 * @param totals the query about the whole period
 * @param remember called with its period if that is all time
 */
function useAllTime(
  { state, responses }: Pick<Parts, 'state' | 'responses'>,
  totals: Query | undefined,
  remember: (allTime: AllTime) => void,
): void {
  const shown = findShown({ responses }, totals)
  // Other responses may still be on their way, and queries that change now would ask for them again.
  const isThere =
    state.period === 'all' && shown.kind === 'ready' && !shown.isOld && !responses.isAsking
  const period = isThere ? shown.body.period : undefined
  useEffect(() => {
    if (period !== undefined) remember(period)
  }, [period])
}

/**
 * Remembers the values of the field that the dialog shows, from which later queries are built.
 *
 * @param query the query for the values, if the state has one
 * @param remember called with its response
 */
function useKnownValues(
  { responses }: Pick<Parts, 'responses'>,
  query: Query | undefined,
  remember: (known: KnownValues) => void,
): void {
  const shown = findShown({ responses }, query)
  // Other responses may still be on their way, and queries that change now would ask for them again.
  const isThere = shown.kind === 'ready' && !shown.isOld && !responses.isAsking
  const body = isThere ? shown.body : undefined
  useEffect(() => {
    if (body === undefined || query === undefined) return
    remember({
      asked: JSON.stringify(query.body),
      values: body.data.flatMap(({ group }) => Object.values(group)),
      total: body.pagination.total,
    })
  }, [body])
}
