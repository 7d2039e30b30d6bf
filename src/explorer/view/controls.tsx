/** The controls that several parts of the page have: a choice, a field that waits for a pause, a button that copies, and the link past the bar. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface SelectProps<Value extends string> {
  /** What is chosen, for screen readers. */
  readonly label: string
  readonly name: string
  readonly options: readonly (readonly [value: Value, name: string])[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  /** Why nothing can be chosen; absent if it can. */
  readonly disabledBecause?: string | undefined
}

/** A choice of one of some names. */
export function Select<Value extends string>({
  label,
  name,
  options,
  value,
  onChange,
  disabledBecause,
}: SelectProps<Value>) {
  return (
    <label>
      <span class="hidden">{label}</span>
      <select
        class="control"
        name={name}
        value={value}
        disabled={disabledBecause !== undefined}
        title={disabledBecause ?? options.find(([one]) => one === value)?.[1]}
        onChange={({ currentTarget }) => {
          const [chosen] = options.find(([one]) => one === currentTarget.value) ?? []
          if (chosen !== undefined) onChange(chosen)
        }}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The id of the part of the page that is not its bar. */
export const MAIN_ID = 'main'

/** Leads the keyboard past the bar. It is seen while it has the focus. The address stays: its fragment is for keys. */
export const SkipLink = () => (
  <a
    class="skip control"
    href={`#${MAIN_ID}`}
    onClick={(event) => {
      event.preventDefault()
      document.getElementById(MAIN_ID)?.focus()
    }}
  >
    Skip to the numbers
  </a>
)

const PAUSE_MS = 200

/**
 * Keeps a text that is typed, and reports it after a pause.
 *
 * @param value the text that was reported last; if it is changed otherwise, the typed text follows
 * @returns the text to show, and what changes it
 */
export function useDebounced(
  value: string,
  report: (text: string) => void,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    if (timer.current === undefined) setText(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const type = (typed: string): void => {
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      timer.current = undefined
      report(typed)
    }, PAUSE_MS)
  }
  return [text, type]
}

/** For how long it says that it has copied. */
const MESSAGE_MS = 3000

/** Copies a code. Without access to the clipboard, which browsers give to secure pages alone, it selects the code. */
export function CopyButton({ code }: { readonly code: RefObject<HTMLElement | null> }) {
  const [message, setMessage] = useState('')
  useEffect(() => {
    if (message === '') return
    const timer = setTimeout(() => setMessage(''), MESSAGE_MS)
    return () => clearTimeout(timer)
  }, [message])
  const copy = async (element: HTMLElement): Promise<void> => {
    try {
      await navigator.clipboard.writeText(element.textContent)
      setMessage('Copied')
    } catch {
      getSelection()?.selectAllChildren(element)
      setMessage('Selected: copy it with the keyboard')
    }
  }
  return (
    <>
      <button
        class="copy"
        onClick={() => {
          if (code.current !== null) void copy(code.current)
        }}
      >
        Copy
      </button>
      <span role="status">{message}</span>
    </>
  )
}
