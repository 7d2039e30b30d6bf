/** The page with its numbers. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Access } from '../client/access.js'
import type { Api } from '../client/api.js'
import type { Question, ValuesAnswer } from '../client/contract.js'
import { buildQuestions, PROPERTIES } from '../questions/build-questions.js'
import { DETAILS, DETAILS_VALUES } from '../questions/details.js'
import type { KnownValues } from '../questions/filters.js'
import { PANELS } from '../questions/panels.js'
import { divide, type AllTime } from '../state/intervals.js'
import { Bar } from './bar.js'
import { Cards } from './cards.js'
import { ChartSection } from './chart-section.js'
import { DetailsDialog } from './details.js'
import { Panel } from './panel.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { FirstEvent, useProject } from './project.js'
import { Shortcuts } from './shortcuts.js'
import { useAddress } from './use-address.js'
import { useAnswers } from './use-answers.js'

interface ExplorerProps {
  readonly browser: Window
  readonly now: () => Date
  readonly access: Access
  readonly api: Api
  /** Called if the key of the page is not accepted. */
  readonly onKeyRefused: (message: string) => void
}

export function Explorer({ browser, now, access, api, onKeyRefused }: ExplorerProps) {
  const [state, change] = useAddress(browser)
  const [known, setKnown] = useState<KnownValues>()
  const [allTime, setAllTime] = useState<AllTime>()
  const division = divide(state, now(), allTime)
  const { interval } = division
  const questions = useMemo(
    () => buildQuestions({ ...state, interval }, known),
    [state, interval, known],
  )
  const answers = useAnswers(api, questions, browser, now)
  const { name, project } = useProject(api, access, browser, answers.renew)
  const { failure, isAsking } = answers
  useEffect(() => {
    if (failure?.needsKey === true && access.key !== undefined) onKeyRefused(failure.message)
  }, [failure])
  const find = (id: string) => questions.find((one) => one.id === id)
  const named = findShown<ValuesAnswer>({ answers }, find(PROPERTIES))
  const properties = named.kind === 'ready' ? named.body.data.map(({ value }) => value) : []
  useKnownValues({ answers }, find(DETAILS_VALUES), setKnown)
  const parts = { state, change, answers, access, api }
  useAllTime(parts, find('cards'), setAllTime)
  return (
    <>
      <Bar {...parts} name={name} live={find('now')} now={now} properties={properties} />
      <main aria-busy={isAsking}>
        {failure !== undefined && <FailureNote failure={failure} answers={answers} />}
        {project?.firstEventAt === null && <FirstEvent project={project} base={access.base} />}
        <div class="sheet">
          <Cards {...parts} question={find('cards')} />
          <ChartSection {...parts} question={find('chart')} division={division} />
        </div>
        <div class="panels">
          {PANELS.map((panel) => (
            <Panel
              key={panel.id}
              {...parts}
              panel={panel}
              question={find(panel.id)}
              properties={panel.id === 'events' ? properties : []}
            />
          ))}
        </div>
      </main>
      <Shortcuts browser={browser} change={change} />
      <DetailsDialog {...parts} rows={find(DETAILS)} values={find(DETAILS_VALUES)} known={known} />
    </>
  )
}

/**
 * Learns from responses when all time starts and ends, on which the intervals of the chart depend.
 *
 * @param totals the query about the whole period
 * @param remember called with its period if that is all time
 */
function useAllTime(
  { state, answers }: Pick<Parts, 'state' | 'answers'>,
  totals: Question | undefined,
  remember: (allTime: AllTime) => void,
): void {
  const shown = findShown({ answers }, totals)
  // Other answers may still be on their way, and questions that change now would ask for them again.
  const isThere =
    state.period === 'all' && shown.kind === 'ready' && !shown.isOld && !answers.isAsking
  const period = isThere ? shown.body.period : undefined
  useEffect(() => {
    if (period !== undefined) remember(period)
  }, [period])
}

/**
 * Remembers the values of the field that the dialog shows, from which later queries are built.
 *
 * @param question the query for the values, if the state has one
 * @param remember called with its response
 */
function useKnownValues(
  { answers }: Pick<Parts, 'answers'>,
  question: Question | undefined,
  remember: (known: KnownValues) => void,
): void {
  const shown = findShown({ answers }, question)
  // Other answers may still be on their way, and questions that change now would ask for them again.
  const isThere = shown.kind === 'ready' && !shown.isOld && !answers.isAsking
  const body = isThere ? shown.body : undefined
  useEffect(() => {
    if (body === undefined || question === undefined) return
    remember({
      asked: JSON.stringify(question.body),
      values: body.data.flatMap(({ group }) => Object.values(group)),
      total: body.pagination.total,
    })
  }, [body])
}
