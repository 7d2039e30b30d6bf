/** The dialog with journeys: what visits do after a page or event, or before it, step by step. */
import type { JourneysResponse, Query } from '../client/contract.js'
import { formatCount, formatPercent } from '../format/numbers.js'
import { describeStep } from '../queries/filters.js'
import { set } from '../state/changes.js'
import type { FieldFilter } from '../state/filters.js'
import type { Journeys } from '../state/state.js'
import { Select } from './controls.js'
import { Dialog, DialogScope } from './dialog.js'
import { ConditionForm, type ConditionSource } from './filter-menu.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { QueryMenu } from './query-menu.js'
import { FieldValue } from './value.js'

interface JourneysDialogProps extends Parts {
  readonly query: Query | undefined
  /** What the page or event is chosen from. */
  readonly source: ConditionSource
}

/** The dialog of the state; nothing while none is open. */
export function JourneysDialog({ query, source, ...parts }: JourneysDialogProps) {
  const { state, change } = parts
  const { journeys } = state
  if (journeys === undefined) return null
  const show = (members: Partial<Journeys>): void =>
    change(set({ journeys: { ...journeys, ...members } }))
  return (
    <Dialog title="Journeys" onClose={() => change(set({ journeys: undefined }))}>
      <div class="tools">
        <Select
          label="Direction"
          name="direction"
          options={[
            ['from', 'After'],
            ['to', 'Before'],
          ]}
          value={journeys.direction}
          onChange={(direction) => show({ direction })}
        />
        <strong>{describeStep(journeys.anchor)}</strong>
        <Select
          label="Steps"
          name="steps"
          options={[
            ['pages', 'Pages'],
            ['all', 'Pages and events'],
          ]}
          value={journeys.steps}
          onChange={(steps) => show({ steps })}
        />
        <div class="saved">
          <QueryMenu {...parts} query={query} of="Journeys" />
        </div>
      </div>
      <ConditionForm
        {...source}
        isOpen
        first={journeys.anchor.field}
        action="Start here"
        onCondition={(anchor) => show({ anchor })}
      />
      <Steps
        {...parts}
        query={query}
        direction={journeys.direction}
        onAnchor={(anchor) => show({ anchor })}
      />
    </Dialog>
  )
}

interface StepsProps extends Pick<Parts, 'responses' | 'common' | 'site' | 'state' | 'ownZone'> {
  readonly query: Query | undefined
  readonly direction: Journeys['direction']
  readonly onAnchor: (anchor: FieldFilter) => void
}

/** The visits of the anchor, and below them the rows of each step. */
function Steps({ query, direction, onAnchor, site, ...parts }: StepsProps) {
  const shown = findShown<JourneysResponse>(parts, query)
  if (shown.kind === 'failed') return <FailureNote {...parts} failure={shown.failure} />
  if (shown.kind === 'waiting') return <p class="loading">…</p>
  const { data } = shown.body
  const steps = [...new Set(data.map(({ step }) => step))]
  return (
    <>
      {!shown.isOld && <DialogScope {...parts} response={shown.body} />}
      <div class="details-rows journeys">
        <table class={shown.isOld ? 'rows old' : 'rows'}>
          <thead>
            <tr>
              {['Step', 'Visits', 'Users', 'Of visits with it'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          {steps.map((step) => (
            <tbody key={step}>
              {step > 0 && (
                <tr class="step">
                  <th scope="rowgroup" colSpan={4}>
                    {nameStep(step, direction)}
                  </th>
                </tr>
              )}
              {data
                .filter((row) => row.step === step)
                .map((row) => (
                  <StepRow
                    key={`${row.kind} ${row.value}`}
                    {...{ row, direction, onAnchor, site }}
                  />
                ))}
            </tbody>
          ))}
        </table>
      </div>
    </>
  )
}

const nameStep = (step: number, direction: Journeys['direction']): string =>
  `${step} ${step === 1 ? 'step' : 'steps'} ${direction === 'from' ? 'later' : 'earlier'}`

type JourneyRow = JourneysResponse['data'][number]

/** The fields of the steps that are a page or an event. */
const FIELDS = { page: 'page:path', event: 'event:name' } as const

const OTHERS = { anchor: 'All visits with it', other: 'Others' } as const

/** The names of the rows that are neither a page nor an event. */
const ROW_NAMES = {
  from: { ...OTHERS, none: 'The visit had ended' },
  to: { ...OTHERS, none: 'The visit had not begun' },
} as const

/** A page or event, from which a click goes on, or what a step has besides. */
function StepRow({
  row: { step, kind, value, visits, users, share_of_visits: share },
  direction,
  onAnchor,
  site,
}: { readonly row: JourneyRow } & Pick<StepsProps, 'direction' | 'onAnchor' | 'site'>) {
  const cells = [
    [visits, formatCount],
    [users, formatCount],
    [share ?? 0, formatPercent],
  ] as const
  return (
    <tr data-value={[step, kind, ...(value === null ? [] : [value])].join(' ')}>
      <th scope="row">
        <span class="fill" style={{ width: `${share ?? 0}%` }} />
        {kind === 'page' || kind === 'event' ? (
          <FieldValue
            field={FIELDS[kind]}
            value={value ?? ''}
            site={site}
            onFilter={() =>
              onAnchor({ field: FIELDS[kind], operator: 'is', values: [value ?? ''] })
            }
          />
        ) : (
          <span class="label">{ROW_NAMES[direction][kind]}</span>
        )}
      </th>
      {cells.map(([count, format], i) => (
        <td key={i}>
          <data value={String(count)}>{format(count)}</data>
        </td>
      ))}
    </tr>
  )
}
