/** The search of the bar: a combobox that finds values of all fields, and filters by the one that is chosen. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createResponses } from '../client/responses.js'
import type { Query, QueryResponse } from '../client/contract.js'
import {
  buildNarrowedQueries,
  buildSearchQueries,
  findStem,
  listSuggestions,
  suggestPages,
  type Suggestion,
} from '../queries/search.js'
import { addFilter } from '../state/changes.js'
import type { AskedState } from '../state/state.js'
import { useDebounced } from './controls.js'
import type { Parts } from './parts.js'
import { useMissing } from './use-responses.js'
import { useCombobox } from './use-combobox.js'

export function Search({ change, ...source }: SuggestionSource & Pick<Parts, 'change'>) {
  const [searched, setSearched] = useState('')
  const [typed, type] = useDebounced(searched, setSearched)
  const text = typed.trim()
  const found = useSuggestions(source, searched.trim())
  const isReady = found.isReady && searched.trim() === text
  const options = text === '' ? [] : [...(isReady ? found.suggestions : []), suggestPages(text)]
  const choose = ({ filter }: Suggestion): void => {
    type('')
    change(addFilter(filter))
  }
  const box = useCombobox({ options, isReady, onChoose: choose, onClear: () => type('') })
  const { isShown, active } = box
  return (
    <div class="search" role="search">
      <input
        type="text"
        class="control"
        name="search"
        role="combobox"
        aria-label="Search and filter"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={LIST_ID}
        aria-activedescendant={isShown && active !== undefined ? nameOption(active) : undefined}
        placeholder="Search"
        autocomplete="off"
        maxLength={200}
        value={typed}
        onInput={({ currentTarget: { value } }) => {
          type(value)
          box.restart()
        }}
        onKeyDown={box.press}
        onFocus={box.open}
        onBlur={box.close}
      />
      <SuggestionList
        {...{ options, active, isShown, isReady }}
        failure={found.failure}
        onChoose={choose}
      />
    </div>
  )
}

const LIST_ID = 'search-list'

/** The id of an option, by which the input names the active one. */
const nameOption = (index: number): string => `search-option-${index}`

interface SuggestionListProps {
  readonly options: readonly Suggestion[]
  readonly active: number | undefined
  readonly isShown: boolean
  readonly isReady: boolean
  /** Why only some options are known. */
  readonly failure: string | undefined
  readonly onChoose: (option: Suggestion) => void
}

/** The suggestions of the search. One of them may be active. */
function SuggestionList({
  options,
  active,
  isShown,
  isReady,
  failure,
  onChoose,
}: SuggestionListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const status = isReady ? (failure ?? `${options.length} suggestions`) : 'Searching …'
  return (
    <>
      <ul id={LIST_ID} ref={list} role="listbox" aria-label="Suggestions" hidden={!isShown}>
        {options.map((option, i) => (
          <li
            key={`${option.filter.field} ${option.filter.operator} ${option.filter.values.join()}`}
            id={nameOption(i)}
            role="option"
            aria-selected={i === active}
            // The focus stays in the input.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(option)}
          >
            <span>{option.name}</span> <span class="of">{option.of}</span>
          </li>
        ))}
      </ul>
      <p class={failure === undefined ? 'hidden' : 'search-failure'} role="status">
        {isShown ? status : ''}
      </p>
    </>
  )
}

interface SuggestionSource extends Pick<Parts, 'api'> {
  readonly state: AskedState
  readonly now: () => Date
  /** The names of the properties that are searched. */
  readonly properties: readonly string[]
}

interface Suggestions {
  /** Whether they are those of the text. */
  readonly isReady: boolean
  readonly suggestions: readonly Suggestion[]
  /** Why there are none, if the request had no response. */
  readonly failure: string | undefined
}

/** Asks what a text may mean. @param text what is searched; nothing is asked while it is empty */
function useSuggestions(
  { state, api, now, properties }: SuggestionSource,
  text: string,
): Suggestions {
  const { period, lastDays, zone } = state
  const responses = useRef(createResponses()).current
  const scope = JSON.stringify([period, lastDays, zone, properties])
  const stem = findStem(text)
  const wide = useMemo(
    () => (stem === undefined ? [] : buildSearchQueries(state, properties, stem)),
    [stem, scope],
  )
  const ofStem = useMissing({ api, responses, queries: wide, now })
  const read = (queries: readonly Query[]) =>
    queries.flatMap((query) => {
      const body = responses.get(query)?.result.body
      return body === undefined || 'error' in body
        ? []
        : [[query.id, body as QueryResponse] as const]
    })
  const narrowed = useMemo(
    () => (ofStem.isAsking ? [] : buildNarrowedQueries(state, read(wide), text)),
    [ofStem.isAsking, wide, text],
  )
  const ofText = useMissing({ api, responses, queries: narrowed, now })
  const isAsking = ofStem.isAsking || ofText.isAsking
  const fields = new Map([...read(wide), ...read(narrowed)])
  return {
    isReady: !isAsking,
    suggestions: isAsking || stem === undefined ? [] : listSuggestions(text, [...fields]),
    failure: isAsking ? undefined : (ofStem.failure ?? ofText.failure)?.message,
  }
}
