/** A menu: a button, and what it opens beside it. Escape closes it, and so does leaving it. A focus inside of it goes to its button. */
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { hasLeft } from './use-reading.js'

interface MenuProps {
  /** What the button says, or shows beside its `label`. */
  readonly text: string
  /** What it is called, if not by its text. */
  readonly label?: string
  readonly class?: string
  /** The class of its button. */
  readonly button?: string
  /** What is said of the button where one points at it, if it is not called by its label. */
  readonly title?: string
  readonly onToggle?: (isOpen: boolean) => void
  /** The content, which may close the menu. */
  readonly children: (close: () => void) => ComponentChildren
}

export function Menu({ text, label, title, onToggle, children, ...classes }: MenuProps) {
  const { class: name = '', button = 'control' } = classes
  const menu = useRef<HTMLDetailsElement>(null)
  const close = (): void => {
    const hadFocus = menu.current?.contains(document.activeElement) === true
    menu.current?.removeAttribute('open')
    if (hadFocus) menu.current?.querySelector('summary')?.focus()
  }
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
      }}
      onFocusOut={(event) => hasLeft(event) && close()}
    >
      <summary class={button} aria-label={label} title={title ?? label ?? text}>
        {text}
      </summary>
      {/* It takes the focus of clicks between its buttons, so that they do not close it. */}
      <div class="opened" tabIndex={-1}>
        {children(close)}
      </div>
    </details>
  )
}
