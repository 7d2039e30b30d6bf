/** The page of a tab with an admin key: all projects with their numbers. A click opens one. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ManagedProject } from '../../contract/management-api.js'
import { drawArea, drawLine, place, type Box } from '../chart/layout.js'
import type { Access } from '../client/access.js'
import type { Api } from '../client/api.js'
import type { ProjectsResponse } from '../client/contract.js'
import { nameMetric } from '../queries/metrics.js'
import { buildOverview, OVERVIEW_METRICS, type OverviewView } from '../queries/overview.js'
import { chooseLineInterval } from '../state/intervals.js'
import type { ExplorerState } from '../state/state.js'
import { ZoneMenu, useScrollPadding } from './bar.js'
import { MAIN_ID, Select, SkipLink } from './controls.js'
import { Pages } from './details.js'
import { SortHeader } from './details-table.js'
import { FailureNote, findShown } from './parts.js'
import { ComparisonMenu, PeriodMenu } from './period-menu.js'
import { QueryMenu } from './query-menu.js'
import { formatLink, useAddress, type ChangeState } from './use-address.js'
import { useAskedState } from './use-asked-state.js'
import { useResponses } from './use-responses.js'
import { useSettled } from './use-settled.js'
import { Change, Value } from './value.js'

interface OverviewProps {
  readonly browser: Window
  readonly now: () => Date
  readonly access: Access
  readonly api: Api
  /** Called if the key of the page is not accepted. */
  readonly onKeyRefused: (message: string) => void
}

/** Days are those of UTC for all projects, unless a zone is chosen. */
const ZONE = 'UTC'

const FIRST: OverviewView = { org: '', orderBy: 'users', direction: 'desc', page: 0 }

export function Overview({ browser, now, access, api, onKeyRefused }: OverviewProps) {
  const [state, change] = useAddress(browser)
  const [view, setView] = useState(FIRST)
  const projects = useProjects(api)
  const asked = useAskedState(state, 'auto', state.zone ?? ZONE, browser, now)
  const query = useMemo(
    () => buildOverview(asked, view, chooseLineInterval(asked.period, state.zone ?? ZONE, now())),
    [asked, view],
  )
  const responses = useResponses(
    api,
    useMemo(() => [query], [query]),
    browser,
    now,
  )
  const { failure, isAsking } = responses
  useEffect(() => {
    if (failure?.needsKey === true) onKeyRefused(failure.message)
  }, [failure])
  useEffect(() => {
    browser.document.title = 'All projects · Tallyhouse'
  }, [])
  const shown = findShown<ProjectsResponse>({ responses }, query)
  const look = (next: Partial<OverviewView>): void => setView({ ...view, page: 0, ...next })
  return (
    <>
      <OverviewBar {...{ state, change, now, view, look, projects, isAsking }} />
      <main id={MAIN_ID} tabIndex={-1} aria-busy={isAsking}>
        {failure !== undefined && <FailureNote failure={failure} responses={responses} />}
        <section class="sheet overview" aria-label="Projects">
          <div class="corner">
            <QueryMenu {...{ responses, access, api, query }} of="Projects" />
          </div>
          {shown.kind === 'waiting' && failure === undefined && <p class="loading">…</p>}
          {shown.kind === 'ready' && (
            <>
              <Rows
                {...{ state, view, look, projects }}
                rows={shown.body.data}
                isOld={shown.isOld}
              />
              <Pages pagination={shown.body.pagination} onPage={(page) => look({ page })} />
            </>
          )}
        </section>
      </main>
    </>
  )
}

/** Reads the projects of the key, for their names; none where they cannot be read. */
function useProjects(api: Api): readonly ManagedProject[] {
  const [projects, setProjects] = useState<readonly ManagedProject[]>([])
  useEffect(() => {
    api.listProjects().then(setProjects, () => undefined)
  }, [api])
  return projects
}

/** What every part of the page gets. */
interface OverviewParts {
  readonly state: ExplorerState
  readonly view: OverviewView
  /** Changes what is chosen, and goes to the first page. */
  readonly look: (next: Partial<OverviewView>) => void
  readonly projects: readonly ManagedProject[]
}

interface OverviewBarProps extends OverviewParts {
  readonly change: ChangeState
  readonly now: () => Date
  readonly isAsking: boolean
}

function OverviewBar({ state, change, now, view, look, projects, isAsking }: OverviewBarProps) {
  const ref = useScrollPadding()
  const orgs = [...new Set(projects.flatMap(({ org }) => (org === null ? [] : [org])))].sort()
  const parts = { state, change, ownZone: ZONE, isSettled: useSettled(isAsking) }
  return (
    <header class="bar" ref={ref}>
      <div class="row">
        <SkipLink />
        <h1>All projects</h1>
        <PeriodMenu {...parts} now={now} />
        <ComparisonMenu {...parts} />
        <ZoneMenu {...parts} />
        {orgs.length > 0 && (
          <Select
            label="Organization"
            name="org"
            options={[['', 'All organizations'], ...orgs.map((org) => [org, org] as const)]}
            value={view.org}
            onChange={(org) => look({ org })}
          />
        )}
      </div>
    </header>
  )
}

interface RowsProps extends OverviewParts {
  readonly rows: ProjectsResponse['data']
  readonly isOld: boolean
}

function Rows({ state, view, look, projects, rows, isOld }: RowsProps) {
  const query = formatLink(state)
  const names = useMemo(() => new Map(projects.map(({ id, name }) => [id, name])), [projects])
  if (rows.length === 0) {
    return (
      <p class="empty">
        There are no projects. <a href="/docs/management">Create one over HTTP</a>, or by{' '}
        <code>tallyhouse project create</code>.
      </p>
    )
  }
  const header = (column: string, name: string) => (
    <SortHeader key={column} {...{ column, name }} order={view} onSort={look} />
  )
  return (
    <div class="details-rows">
      <table class={isOld ? 'old' : ''}>
        <thead>
          <tr>
            {header('project', 'Project')}
            {OVERVIEW_METRICS.map((metric) => header(metric, nameMetric(metric, '')))}
            <th scope="col">Users over time</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ project, metrics, comparison, series, error }) => (
            <tr key={project} data-value={project}>
              <th scope="row">
                <a href={`/explore/${project}?${query}`}>{names.get(project) ?? project}</a>
              </th>
              {error !== undefined && (
                <td class="quiet" colSpan={OVERVIEW_METRICS.length + 1}>
                  {error.message}
                </td>
              )}
              {metrics !== undefined && (
                <>
                  {OVERVIEW_METRICS.map((metric) => (
                    <td key={metric} data-metric={metric}>
                      <Value metric={metric} value={metrics[metric]} />
                      <Change metric={metric} change={comparison?.change[metric]} />
                    </td>
                  ))}
                  <td>
                    {series && <Line values={series.map(({ metrics: { users = 0 } }) => users)} />}
                  </td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const LINE: Box = { left: 1, top: 2, width: 138, height: 24 }

/** A line of users over the period, from 0. */
function Line({ values }: { readonly values: readonly number[] }) {
  const places = place(values, Math.max(...values), LINE)
  return (
    <svg
      class="line"
      viewBox="0 0 140 28"
      role="img"
      aria-label={`From ${values[0]} to ${values.at(-1)}`}
    >
      <path class="area" d={drawArea(places, LINE)} />
      <path class="current" d={drawLine(places)} />
    </svg>
  )
}
