/** The suggestions of the search, of which one may be active. */
import { useEffect, useRef } from 'preact/hooks'
import type { Suggestion } from '../../questions/search.js'

export const LIST_ID = 'search-list'

/** The id of an option, by which the input names the active one. */
export const nameOption = (index: number): string => `search-option-${index}`

export interface SuggestionListProps {
  readonly options: readonly Suggestion[]
  readonly active: number | undefined
  readonly isShown: boolean
  readonly isReady: boolean
  /** Why only some options are known. */
  readonly failure: string | undefined
  readonly onChoose: (option: Suggestion) => void
}

export function SuggestionList({
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
