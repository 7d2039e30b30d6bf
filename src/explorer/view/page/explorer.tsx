/** The page with its numbers. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Access } from '../../client/access.js'
import type { Api } from '../../client/api.js'
import type { ValuesAnswer } from '../../client/contract.js'
import { buildQuestions, PROPERTIES } from '../../questions/build-questions.js'
import { DETAILS, DETAILS_VALUES } from '../../questions/details.js'
import type { KnownValues } from '../../questions/filters.js'
import { PANELS } from '../../questions/panels.js'
import { divide, type AllTime } from '../../state/intervals.js'
import { Bar } from '../bar/bar.js'
import { ChartSection } from '../chart/chart-section.js'
import { Details } from '../details/details.js'
import { useKnownValues } from '../details/use-known-values.js'
import { Panel } from '../panels/panel.js'
import { FailureNote } from '../shared/failure-note.js'
import { findShown } from '../shared/parts.js'
import { Shortcuts } from '../shortcuts/shortcuts.js'
import { useAddress } from '../shared/use-address.js'
import { useAllTime } from '../shared/use-all-time.js'
import { useAnswers } from '../shared/use-answers.js'
import { Cards } from './cards.js'
import { FirstEvent } from './first-event.js'
import { useProject } from './use-project.js'

export interface ExplorerProps {
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
      <Details {...parts} rows={find(DETAILS)} values={find(DETAILS_VALUES)} known={known} />
    </>
  )
}
