/** The dialog with a funnel: its steps, and how many users complete each. */
import type { FunnelResponse, Query } from '../client/contract.js'
import { formatCount, formatDuration, formatPercent } from '../format/numbers.js'
import { describeStep } from '../queries/filters.js'
import { MAX_STEPS } from '../queries/funnel.js'
import { set } from '../state/changes.js'
import type { FieldFilter } from '../state/filters.js'
import type { Funnel } from '../state/state.js'
import { Select } from './controls.js'
import { Dialog, DialogScope } from './dialog.js'
import { ConditionForm, type ConditionSource } from './filter-menu.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { QueryMenu } from './query-menu.js'

export interface FunnelDialogProps extends Parts {
  readonly query: Query | undefined
  /** What the steps are built from. */
  readonly source: ConditionSource
}

/** The dialog of the state; nothing while none is open. */
export function FunnelDialog({ query, source, ...parts }: FunnelDialogProps) {
  const { state, change } = parts
  const { funnel } = state
  if (funnel === undefined) return null
  const show = (next: Funnel): void => change(set({ funnel: next }))
  const { steps, within } = funnel
  return (
    <Dialog title="Funnel" onClose={() => change(set({ funnel: undefined }))}>
      <div class="tools">
        <Select
          label="Within"
          name="within"
          options={WINDOWS.map((one) => [String(one), nameWindow(one)])}
          value={String(within)}
          onChange={(chosen) =>
            show({ steps, within: WINDOWS.find((one) => String(one) === chosen) ?? within })
          }
        />
        <QueryMenu {...parts} query={query} of="Funnel" />
      </div>
      <Steps
        {...parts}
        query={query}
        steps={steps}
        onRemove={(index) => show({ within, steps: steps.filter((_, i) => i !== index) })}
      />
      {steps.length < MAX_STEPS && (
        <ConditionForm
          {...source}
          isOpen
          onCondition={(step) => show({ within, steps: [...steps, step] })}
        />
      )}
    </Dialog>
  )
}

/** What the steps lie within: the same visit, or a number of days. */
const WINDOWS: readonly Funnel['within'][] = ['visit', 1, 7, 30]

const nameWindow = (within: Funnel['within']): string =>
  within === 'visit' ? 'Within a visit' : within === 1 ? 'Within a day' : `Within ${within} days`

interface StepsProps extends Pick<Parts, 'responses' | 'common' | 'state' | 'ownZone'> {
  readonly query: Query | undefined
  readonly steps: readonly FieldFilter[]
  readonly onRemove: (index: number) => void
}

const COLUMNS = ['Step', 'Users', 'Lost', 'Of the first', 'Of the one before', 'Median time']

/** A row for each step, with its numbers once there are two. */
function Steps({ query, steps, onRemove, ...parts }: StepsProps) {
  const shown = findShown<FunnelResponse>(parts, query)
  if (steps.length === 0)
    return <p class="empty">A funnel begins with a step: a page, or an event.</p>
  if (shown.kind === 'failed') return <FailureNote {...parts} failure={shown.failure} />
  const isNew = query !== undefined && shown.kind === 'ready' && !shown.isOld
  return (
    <>
      {isNew && <DialogScope {...parts} response={shown.body} />}
      <div class="details-rows funnel">
        <table class={query === undefined || isNew ? 'rows' : 'rows old'}>
          <thead>
            <tr>
              {COLUMNS.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((step, i) => (
              <StepRow
                key={i}
                number={i + 1}
                step={step}
                result={isNew ? shown.body.data[i] : undefined}
                before={isNew ? shown.body.data[i - 1] : undefined}
                onRemove={() => onRemove(i)}
              />
            ))}
          </tbody>
        </table>
        {steps.length === 1 && <p class="empty">Add the next step to see who goes on.</p>}
      </div>
    </>
  )
}

type StepResult = FunnelResponse['data'][number]

interface StepRowProps {
  /** From 1. */
  readonly number: number
  readonly step: FieldFilter
  readonly result: StepResult | undefined
  /** The result of the step before; undefined for the first. */
  readonly before: StepResult | undefined
  readonly onRemove: () => void
}

function StepRow({ number, step, result, before, onRemove }: StepRowProps) {
  const name = describeStep(step)
  const cells: readonly (readonly [number | null | undefined, (value: number) => string])[] = [
    [result?.users, formatCount],
    [before && result && before.users - result.users, formatCount],
    [result?.share_of_first, formatPercent],
    [result?.share_of_previous, formatPercent],
    [result?.median_seconds, formatDuration],
  ]
  return (
    <tr data-value={number}>
      <th scope="row">
        <span class="fill" style={{ width: `${result?.share_of_first ?? 0}%` }} />
        <span class="label">
          {number}. {name}
        </span>
        <button class="remove" aria-label={`Remove: ${name}`} onClick={onRemove}>
          ×
        </button>
      </th>
      {cells.map(([value, format], i) => (
        <td key={i}>
          {typeof value === 'number' ? (
            <data value={String(value)}>{format(value)}</data>
          ) : (
            <span class="none">–</span>
          )}
        </td>
      ))}
    </tr>
  )
}
