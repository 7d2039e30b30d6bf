/** Builds a filter: a field, an operator, and a value that is typed or chosen among those of the period. */
import { useId, useMemo, useRef, useState } from 'preact/hooks'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { QueryResponse } from '../client/contract.js'
import { createResponses } from '../client/responses.js'
import { nameValue } from '../format/values.js'
import { OPERATOR_NAMES } from '../queries/filters.js'
import { findTab, PANELS } from '../queries/panels.js'
import { buildValuesOf } from '../queries/search.js'
import { addFilter } from '../state/changes.js'
import {
  FILTER_OPERATORS,
  isFilterField,
  isTextField,
  type FieldFilter,
  type FilterOperator,
} from '../state/filters.js'
import type { AskedState } from '../state/state.js'
import { useDebounced } from './controls.js'
import { Menu } from './menu.js'
import type { Parts } from './parts.js'
import { useMissing } from './use-responses.js'

export interface ConditionSource extends Pick<Parts, 'api'> {
  readonly state: AskedState
  readonly now: () => Date
  /** The names of the event properties. */
  readonly properties: readonly string[]
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
  readonly onCondition: (condition: FieldFilter) => void
}

/** Asks for a condition: a field, an operator and a value. */
export function ConditionForm({ isOpen, onCondition, ...source }: ConditionFormProps) {
  const listId = useId()
  const [field, setField] = useState('page:path')
  const [operator, setOperator] = useState<FilterOperator>('is')
  const [text, setText] = useState('')
  const [typed, type] = useDebounced(text, setText)
  const values = useValues(source, field, text.trim(), isOpen)
  const operators = FILTER_OPERATORS.filter(
    (one) => isTextField(field) || one === 'is' || one === 'is_not',
  )
  const chosen = operators.includes(operator) ? operator : 'is'
  const isPart = chosen.startsWith('contains')
  return (
    <form
      class="condition"
      onSubmit={(event) => {
        event.preventDefault()
        const name = typed.trim()
        const value = isPart ? undefined : values.find((one) => isNamed(field, one, name))
        type('')
        onCondition({ field, operator: chosen, values: [value ?? name] })
      }}
    >
      <label>
        Field
        <FieldSelect
          field={field}
          properties={source.properties}
          onChange={(next) => {
            type('')
            setField(next)
          }}
        />
      </label>
      <OperatorSelect operators={operators} chosen={chosen} onChange={setOperator} />
      <label>
        Value
        <input
          class="control"
          name="filter-value"
          list={listId}
          required
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
      <button class="control" type="submit">
        Add
      </button>
    </form>
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
  readonly onChange: (field: string) => void
}

/** Chooses one of all fields that can be filtered by, panel by panel. */
function FieldSelect({ field: chosen, properties, onChange }: FieldSelectProps) {
  return (
    <select
      class="control"
      name="filter-field"
      value={chosen}
      onChange={({ currentTarget: { value } }) => onChange(value)}
    >
      {PANELS.map(({ id, name, tabs }) => {
        const own = tabs.map((one) => one.id).filter(isFilterField)
        const fields =
          id === 'events' ? [...own, ...properties.map((one) => PROPERTY_PREFIX + one)] : own
        return fields.length === 0 ? null : (
          <optgroup key={id} label={name}>
            {fields.map((field) => (
              <option key={field} value={field}>
                {findTab(field)?.name ?? field}
              </option>
            ))}
          </optgroup>
        )
      })}
    </select>
  )
}

/** The values of a field in the period that contain a text, the most frequent first. */
function useValues(
  { state, api, now }: ConditionSource,
  field: string,
  text: string,
  isOpen: boolean,
): readonly string[] {
  const responses = useRef(createResponses()).current
  const scope = JSON.stringify([state.period, state.zone])
  const queries = useMemo(
    () => (isOpen ? [buildValuesOf(field, state, text)] : []),
    [isOpen, field, text, scope],
  )
  useMissing({ api, responses, queries, now })
  return queries.flatMap((query) => {
    const body = responses.get(query)?.result.body
    if (body === undefined || 'error' in body) return []
    return (body as QueryResponse).data.flatMap(({ group }) => Object.values(group))
  })
}
