/** Builds a filter: a field, an operator, and a value that is typed or chosen among those of the period. */
import { useId, useMemo, useRef, useState } from 'preact/hooks'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { QueryResponse } from '../client/contract.js'
import { createResponses } from '../client/responses.js'
import { nameValue } from '../format/values.js'
import { nameField, OPERATOR_NAMES } from '../queries/filters.js'
import { PANELS } from '../queries/panels.js'
import { buildValuesOf } from '../queries/search.js'
import { addFilter } from '../state/changes.js'
import {
  isChosenField,
  isFilterField,
  listOperators,
  type ChosenField,
  type Field,
  type FieldFilter,
  type FilterOperator,
} from '../state/filters.js'
import type { AskedState } from '../state/state.js'
import { useDebounced } from './controls.js'
import { Menu } from './menu.js'
import type { Parts } from './parts.js'
import { useList } from './use-list.js'
import { useMissing } from './use-responses.js'

export interface ConditionSource extends Pick<Parts, 'api'> {
  readonly state: AskedState
  readonly now: () => Date
  /** The names of the event properties. */
  readonly properties: readonly string[]
  /** Undefined while it is not known, and on public dashboards. */
  readonly projectId: string | undefined
}

export function FilterMenu({ change, ...source }: ConditionSource & Pick<Parts, 'change'>) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Menu text="Filter" class="filter" onToggle={setOpen}>
      {(close) => (
        <ConditionForm
          {...source}
          isOpen={isOpen}
          onCondition={(filter) => {
            close()
            change(addFilter(filter))
          }}
        />
      )}
    </Menu>
  )
}

interface ConditionFormProps extends ConditionSource {
  /** Whether it is looked at, so that values are asked for. */
  readonly isOpen: boolean
  /** The condition to begin with; absent for a new one. */
  readonly edited?: FieldFilter
  /** The field that a new one begins with. */
  readonly first?: Field
  /** The text of the button of a new one. */
  readonly action?: string
  readonly onCondition: (condition: FieldFilter) => void
}

/** Asks for a condition: a field, an operator, and a value, or some of a list. */
export function ConditionForm({
  isOpen,
  edited,
  first = 'page:path',
  action = 'Add',
  onCondition,
  ...source
}: ConditionFormProps) {
  const draft = useDraft(source, isOpen, edited, first)
  const { field, operator, chosen, operators, options, segments, typed } = draft
  const isChosen = isChosenField(field)
  return (
    <form
      class="condition"
      onSubmit={(event) => {
        event.preventDefault()
        const values = draft.listValues()
        draft.restart()
        onCondition({ field, operator, values })
      }}
    >
      <label>
        Field
        <FieldSelect
          field={field}
          properties={source.properties}
          hasSegments={segments.length > 0}
          onChange={draft.setField}
        />
      </label>
      <OperatorSelect operators={operators} chosen={operator} onChange={draft.setOperator} />
      {options.length > 0 && <Choices {...{ field, chosen, options }} onChange={draft.setChosen} />}
      {!isChosen && (
        <ValueInput
          {...{ field, typed }}
          values={draft.values}
          isRequired={chosen.length === 0}
          type={draft.type}
        />
      )}
      <button class="control" type="submit" disabled={isChosen && chosen.length === 0}>
        {edited === undefined ? action : 'Save'}
      </button>
    </form>
  )
}

/**
 * Keeps what a form has so far. Values are chosen where there is a list of them, and typed elsewhere. Of an edited condition with
 * several values, some can be taken back, and another one can be typed.
 */
function useDraft(
  source: ConditionSource,
  isOpen: boolean,
  edited: FieldFilter | undefined,
  first: Field,
) {
  const begun = edited?.values ?? []
  const [only] =
    edited !== undefined && begun.length === 1 && !isChosenField(edited.field) ? begun : []
  const [field, setField] = useState(edited?.field ?? first)
  const [operator, setOperator] = useState<FilterOperator>(edited?.operator ?? 'is')
  const [text, setText] = useState(only === undefined ? '' : nameValue(field, only))
  const [typed, type] = useDebounced(text, setText)
  const [chosen, setChosen] = useState(only === undefined ? begun : [])
  const own = edited?.field === field ? begun : []
  const lists = useList(source.api, isOpen ? source.projectId : undefined, 'segments')
  const segments = unite(
    lists.map(({ name }) => name),
    edited?.field === 'segment' ? begun : [],
  )
  const values = useValues(source, field, text.trim(), isOpen)
  const operators = listOperators(field)
  const asked = operators.includes(operator) ? operator : 'is'
  const several = only === undefined ? own : []
  const clear = (): void => {
    type('')
    setChosen([])
  }
  const restart = (): void => {
    clear()
    setOperator('is')
  }
  const listValues = (): readonly string[] => {
    const name = typed.trim()
    if (isChosenField(field) || (name === '' && chosen.length > 0)) return chosen
    const isPart = asked.startsWith('contains')
    const found = isPart ? undefined : [...own, ...values].find((one) => isNamed(field, one, name))
    return unite(chosen, [found ?? name])
  }
  return {
    ...{ field, chosen, typed, values, operators, segments, type, restart, listValues },
    ...{ setOperator, setChosen },
    operator: asked,
    options: isChosenField(field) ? (CHOICES[field] ?? segments) : several,
    setField: (next: string) => {
      clear()
      setField(next)
    },
  }
}

/** All of some values and of others, each once. */
const unite = (some: readonly string[], others: readonly string[]): readonly string[] => [
  ...new Set([...some, ...others]),
]

const listNumbers = (from: number, to: number, digits: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(digits, '0'))

/** The values that can be chosen; undefined for those of the project. */
const CHOICES: Readonly<Record<ChosenField, readonly string[] | undefined>> = {
  weekday: listNumbers(1, 7, 1),
  hour: listNumbers(0, 23, 2),
  segment: undefined,
}

interface ChoicesProps {
  readonly field: string
  readonly options: readonly string[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** Chooses any number of values. */
function Choices({ field, options, chosen, onChange }: ChoicesProps) {
  return (
    <fieldset class={isChosenField(field) ? `choices of-${field}` : 'choices'}>
      <legend>{nameField(field)}</legend>
      {options.map((value) => (
        <label key={value} class="control">
          <input
            type="checkbox"
            name="filter-choice"
            value={value}
            checked={chosen.includes(value)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...chosen, value] : chosen.filter((one) => one !== value))
            }
          />
          {field === 'hour' ? value : nameValue(field, value)}
        </label>
      ))}
    </fieldset>
  )
}

interface ValueInputProps {
  readonly field: string
  /** The values that are suggested. */
  readonly values: readonly string[]
  readonly typed: string
  readonly isRequired: boolean
  readonly type: (text: string) => void
}

/** Asks for a value, and suggests those of the period. */
function ValueInput({ field, values, typed, isRequired, type }: ValueInputProps) {
  const listId = useId()
  return (
    <>
      <label>
        Value
        <input
          class="control"
          name="filter-value"
          list={listId}
          required={isRequired}
          autocomplete="off"
          maxLength={200}
          value={typed}
          onInput={({ currentTarget: { value } }) => type(value)}
        />
      </label>
      <datalist id={listId}>
        {values.slice(0, MAX_LISTED).map((value) => (
          <option key={value} value={nameValue(field, value)} />
        ))}
      </datalist>
    </>
  )
}

/** How many values are listed; more are found as they are typed. */
const MAX_LISTED = 100

/** Whether a text is a value, or its name in letters of either case. */
const isNamed = (field: string, value: string, text: string): boolean =>
  value === text || nameValue(field, value).toLowerCase() === text.toLowerCase()

interface OperatorSelectProps {
  readonly operators: readonly FilterOperator[]
  readonly chosen: FilterOperator
  readonly onChange: (operator: FilterOperator) => void
}

function OperatorSelect({ operators, chosen, onChange }: OperatorSelectProps) {
  return (
    <label>
      Operator
      <select
        class="control"
        name="filter-operator"
        value={chosen}
        onChange={({ currentTarget: { value } }) =>
          onChange(operators.find((one) => one === value) ?? 'is')
        }
      >
        {operators.map((one) => (
          <option key={one} value={one}>
            {OPERATOR_NAMES[one]}
          </option>
        ))}
      </select>
    </label>
  )
}

interface FieldSelectProps extends Pick<ConditionSource, 'properties'> {
  readonly field: string
  /** Whether the project has segments. */
  readonly hasSegments: boolean
  readonly onChange: (field: string) => void
}

/** Chooses one of all fields that can be filtered by, panel by panel. */
function FieldSelect({ field: chosen, properties, hasSegments, onChange }: FieldSelectProps) {
  const groups = [
    ...PANELS.map(({ id, name, tabs }) => {
      const own = tabs.map((one) => one.id).filter(isFilterField)
      const ofEvents = id === 'events' ? properties.map((one) => PROPERTY_PREFIX + one) : []
      // The one that is chosen may be of no event of the period.
      const isOne = id === 'events' && chosen.startsWith(PROPERTY_PREFIX)
      return [name, unite([...own, ...ofEvents], isOne ? [chosen] : [])] as const
    }),
    ['Time', ['weekday', 'hour']] as const,
    ['Project', hasSegments ? ['segment'] : []] as const,
  ]
  return (
    <select
      class="control"
      name="filter-field"
      value={chosen}
      onChange={({ currentTarget: { value } }) => onChange(value)}
    >
      {groups
        .filter(([, fields]) => fields.length > 0)
        .map(([name, fields]) => (
          <optgroup key={name} label={name}>
            {fields.map((field) => (
              <option key={field} value={field}>
                {nameField(field)}
              </option>
            ))}
          </optgroup>
        ))}
    </select>
  )
}

/** The values of a field in the period that contain a text, the most frequent first. */
export function useValues(
  { state, api, now }: ConditionSource,
  field: string,
  text: string,
  isOpen: boolean,
): readonly string[] {
  const responses = useRef(createResponses()).current
  const scope = JSON.stringify([state.period, state.lastDays, state.zone])
  const queries = useMemo(
    () => (isOpen && !isChosenField(field) ? [buildValuesOf(field, state, text)] : []),
    [isOpen, field, text, scope],
  )
  useMissing({ api, responses, queries, now })
  return queries.flatMap((query) => {
    const body = responses.get(query)?.result.body
    if (body === undefined || 'error' in body) return []
    return (body as QueryResponse).data.flatMap(({ group }) => Object.values(group))
  })
}
