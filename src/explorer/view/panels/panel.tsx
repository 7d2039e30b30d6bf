/** A panel: tabs, and below them the largest groups of the one that is open. */
import {
  getOpenTab,
  NEW_AND_RETURNING,
  RETENTION,
  toPropertyTab,
  type Panel as PanelInfo,
  type Tab,
} from '../../questions/panels.js'
import type { QueryAnswer, Question, RetentionAnswer } from '../../client/contract.js'
import { openTab } from '../../state/changes.js'
import { PROPERTY_PREFIX } from '../../../contract/filter-fields.js'
import { DetailsButton } from '../details/details.js'
import { FailureNote } from '../shared/failure-note.js'
import { findShown, type Parts } from '../shared/parts.js'
import { QuestionFooter } from '../footer/question-footer.js'
import { NewAndReturning } from './new-and-returning.js'
import { RetentionGrid } from './retention-grid.js'
import { Rows } from './rows.js'

export interface PanelProps extends Parts {
  readonly panel: PanelInfo
  readonly question: Question | undefined
  /** Event properties, which have tabs of their own after those of the panel. */
  readonly properties?: readonly string[]
}

export function Panel({ panel, question, properties = [], ...parts }: PanelProps) {
  const { state, change } = parts
  const open = getOpenTab(panel, state.tabs)
  const tabs = listTabs(panel, open, properties)
  return (
    <section class="panel sheet" aria-label={panel.name} data-panel={panel.id}>
      <header>
        <h2>{panel.name}</h2>
        <div class="tabs" role="group" aria-label={`Tabs of ${panel.name}`}>
          {tabs.map(({ id, name }) => (
            <button
              key={id}
              aria-pressed={id === open.id}
              onClick={() => change(openTab(panel.id, id))}
            >
              {name}
            </button>
          ))}
        </div>
      </header>
      <Content {...parts} question={question} tab={open} />
      <footer>
        <QuestionFooter {...parts} question={question} />
      </footer>
    </section>
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
  question,
  ...parts
}: Omit<PanelProps, 'panel' | 'properties'> & { readonly tab: Tab }) {
  const shown = findShown<unknown>(parts, question)
  if (shown.kind === 'waiting') return <p class="loading">…</p>
  if (shown.kind === 'failed') return <FailureNote {...parts} failure={shown.failure} />
  // The tab decides what was asked.
  if (tab.id === RETENTION) {
    return <RetentionGrid answer={shown.body as RetentionAnswer} isOld={shown.isOld} />
  }
  const answer = shown.body as QueryAnswer
  return tab.id === NEW_AND_RETURNING ? (
    <NewAndReturning answer={answer} isOld={shown.isOld} />
  ) : (
    <>
      <Rows {...parts} tab={tab} answer={answer} isOld={shown.isOld} />
      {answer.data.length > 0 && <DetailsButton {...parts} tab={tab} />}
    </>
  )
}
