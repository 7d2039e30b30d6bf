/** The page: the numbers, or the form that asks for a key. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { findAccess, forgetKey, keepKey, type Access } from '../client/access.js'
import { connectApi } from '../client/api.js'
import { Explorer } from './explorer.js'

interface AppProps {
  readonly browser: Window
  readonly now: () => Date
}

export function App({ browser, now }: AppProps) {
  const [access, setAccess] = useState<Access | undefined>(() => findAccess(browser))
  const [reason, setReason] = useState<string>()
  const api = useMemo(() => access && connectApi(access), [access])
  // A link that differs from the address in its fragment alone does not load the page again.
  useLayoutEffect(() => {
    const follow = (): void => {
      const found = findAccess(browser)
      setAccess((before) => (before?.key === found?.key ? before : found))
    }
    browser.addEventListener('hashchange', follow)
    return () => browser.removeEventListener('hashchange', follow)
  }, [])
  if (access === undefined || api === undefined) {
    return (
      <KeyForm
        reason={reason}
        onKey={(key) => {
          setReason(undefined)
          setAccess(keepKey(browser, key))
        }}
      />
    )
  }
  return (
    <Explorer
      // Another key may be that of another project: nothing of the one before stays.
      key={access.key}
      {...{ browser, now, access, api }}
      onKeyRefused={(message) => {
        forgetKey(browser)
        setReason(message)
        setAccess(undefined)
      }}
    />
  )
}

/** Asks for an API key. */
function KeyForm({
  reason,
  onKey,
}: {
  /** Why the last key was of no use. */
  readonly reason: string | undefined
  readonly onKey: (key: string) => void
}) {
  return (
    <main class="key-form">
      <h1>Tallyhouse</h1>
      {reason !== undefined && <p role="alert">{reason}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const key = new FormData(event.currentTarget).get('key')
          if (typeof key === 'string' && key.trim() !== '') onKey(key.trim())
        }}
      >
        <label for="key">API key of the project</label>
        <input
          class="control"
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          required
          autofocus
        />
        <button class="control" type="submit">
          Show the numbers
        </button>
      </form>
      <p>
        The key stays in this tab until you close it. <code>tallyhouse open --project …</code>{' '}
        prints a link with a key; <code>tallyhouse key issue --project …</code> prints a key.
      </p>
    </main>
  )
}
