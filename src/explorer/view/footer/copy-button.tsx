/** Copies a code. Without access to the clipboard, which browsers give to secure pages alone, it selects the code. */
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** For how long it says that it has copied. */
const MESSAGE_MS = 3000

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
