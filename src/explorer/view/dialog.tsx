/** A dialog that is opened and closed by the state of the page. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { describeFilters } from '../queries/filters.js'
import { describePeriods, type PeriodsOfResponse } from '../state/periods.js'
import type { Parts } from './parts.js'

/** Says what the numbers of a dialog are about: the bar is behind it. */
export function DialogScope({
  response,
  state,
  ownZone,
}: Pick<Parts, 'state' | 'ownZone'> & { readonly response: PeriodsOfResponse }) {
  const periods = describePeriods(state.period, response, state.zone ?? ownZone)
  const filters = describeFilters(state)
  return <p class="scope quiet">{filters === '' ? periods : `${periods} · ${filters}`}</p>
}

interface DialogProps {
  readonly title: string
  /** Called if somebody closes it: by Escape, by its button, or by a click beside it. */
  readonly onClose: () => void
  /** Whether it is as large as what it contains. By default it is as large as the screen allows. */
  readonly isSmall?: boolean
  readonly children: ComponentChildren
}

/** Opens as long as it is mounted. The focus goes in, and returns to where it was. */
export function Dialog({ title, onClose, isSmall = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    // Closed rather than only taken away, so that the browser returns the focus.
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      class={isSmall ? 'small' : ''}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        // Else the browser would only empty a search.
        event.preventDefault()
        onClose()
      }}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <div class="dialog">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <button class="close" aria-label="Close" onClick={onClose}>
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
