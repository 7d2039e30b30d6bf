/** The keyboard of a combobox: which of its options is active, and which one is chosen. */
import { useEffect, useState } from 'preact/hooks'
import { moveActive, type Move } from '../queries/search.js'

interface ComboboxOptions<Option> {
  readonly options: readonly Option[]
  /** Whether the options are those of the text. */
  readonly isReady: boolean
  readonly onChoose: (option: Option) => void
  /** Called if somebody wants an empty text. */
  readonly onClear: () => void
}

interface Combobox {
  readonly isShown: boolean
  /** The index of the active option. */
  readonly active: number | undefined
  /** Call it whenever the text changes: no option is active any more. */
  readonly restart: () => void
  readonly open: () => void
  readonly close: () => void
  readonly press: (event: KeyboardEvent) => void
}

export function useCombobox<Option>({
  options,
  isReady,
  onChoose,
  onClear,
}: ComboboxOptions<Option>): Combobox {
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState<number>()
  const [wantsFirst, setWantsFirst] = useState(false)
  const isShown = isOpen && options.length > 0
  const choose = (index: number): void => {
    const option = options[index]
    setWantsFirst(false)
    if (option !== undefined) onChoose(option)
  }
  useEffect(() => {
    if (wantsFirst && isReady) choose(0)
  }, [wantsFirst, isReady])
  const move = (direction: Move): void => {
    setOpen(true)
    setActive(moveActive(active, direction, options.length))
  }
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move('next'),
    ArrowUp: () => move('previous'),
    // Without an active option it is the first, which may still be on its way.
    Enter: () => (isShown && active !== undefined ? choose(active) : setWantsFirst(true)),
    Escape: () => (isShown ? setOpen(false) : onClear()),
  }
  return {
    isShown,
    active,
    restart: () => {
      setOpen(true)
      setActive(undefined)
      setWantsFirst(false)
    },
    open: () => setOpen(true),
    close: () => setOpen(false),
    press: (event) => {
      const act = event.isComposing ? undefined : keys[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    },
  }
}
