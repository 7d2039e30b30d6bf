/** Text that is typed, and what it is once somebody pauses. */
import { useEffect, useRef, useState } from 'preact/hooks'

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
