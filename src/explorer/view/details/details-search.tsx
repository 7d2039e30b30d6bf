/** The search of the dialog. */
import type { Tab } from '../../questions/panels.js'
import { changeDetails } from '../../state/changes.js'
import type { Details } from '../../state/state.js'
import type { Parts } from '../shared/parts.js'
import { useDebounced } from '../shared/use-debounced.js'

export interface DetailsSearchProps extends Pick<Parts, 'change'> {
  readonly tab: Tab
  readonly details: Details
}

export function DetailsSearch({ tab, details, change }: DetailsSearchProps) {
  const [text, type] = useDebounced(details.search, (search) => change(changeDetails({ search })))
  return (
    <input
      type="search"
      class="control"
      name="details-search"
      aria-label={`Search ${tab.name}`}
      placeholder={`Search ${tab.name.toLowerCase()}`}
      maxLength={200}
      autocomplete="off"
      value={text}
      onInput={({ currentTarget: { value } }) => type(value)}
      autofocus
    />
  )
}
