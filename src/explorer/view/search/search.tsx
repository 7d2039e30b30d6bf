/** The search of the bar: a combobox that finds values of all fields, and filters by the one that is chosen. */
import { useState } from 'preact/hooks'
import { suggestPages, type Suggestion } from '../../questions/search.js'
import { addFilter } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'
import { useDebounced } from '../shared/use-debounced.js'
import { LIST_ID, nameOption, SuggestionList } from './suggestion-list.js'
import { useCombobox } from './use-combobox.js'
import { useSuggestions, type SuggestionSource } from './use-suggestions.js'

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
        placeholder="Search and filter"
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
