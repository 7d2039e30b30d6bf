/** A menu: a button, and what it opens beside it. Escape closes it, and so does leaving it. */
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { hasLeft } from './use-reading.js'

interface MenuProps {
  /** What the button says, or shows beside its `label`. */
  readonly text: string
  /** What it is called, if not by its text. */
  readonly label?: string
  readonly class?: string
  readonly onToggle?: (isOpen: boolean) => void
  /** The content, which may close the menu. */
  readonly children: (close: () => void) => ComponentChildren
}

export function Menu({ text, label, class: name = '', onToggle, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = (): void => menu.current?.removeAttribute('open')
  return (
    <details
      ref={menu}
      class={`menu ${name}`}
      onToggle={({ currentTarget: { open } }) => onToggle?.(open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || menu.current?.open !== true) return
        event.preventDefault()
        event.stopPropagation()
        close()
        menu.current.querySelector('summary')?.focus()
      }}
      onFocusOut={(event) => hasLeft(event) && close()}
    >
      <summary class="control" aria-label={label} title={label}>
        {text}
      </summary>
      {/* It takes the focus of clicks between its buttons, so that they do not close it. */}
      <div class="opened" tabIndex={-1}>
        {children(close)}
      </div>
    </details>
  )
}
