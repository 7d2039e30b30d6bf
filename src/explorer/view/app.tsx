/** The page: the numbers of a project or of all, or the form that asks for a key. */
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { HOUR_MS } from '../../lib/time.js'
import { findAccess, forgetKey, isForAdmin, keepKey, type Access } from '../client/access.js'
import { connectApi, type Api } from '../client/api.js'
import { ApiFailure } from '../client/failure.js'
import { Explorer } from './explorer.js'
import { Overview } from './overview.js'

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
  const onKeyRefused = (message: string): void => {
    forgetKey(browser, access)
    setReason(message)
    setAccess(undefined)
  }
  const { project } = access
  if (project !== undefined && isForAdmin(access)) {
    const onKey = (key: string): void => setAccess(keepKey(browser, key, access))
    return <Opening {...{ project, api, now, onKey, onKeyRefused }} />
  }
  const Page = isForAdmin(access) ? Overview : Explorer
  // Another key may be that of another project: nothing of the one before stays.
  return <Page key={access.key} {...{ browser, now, access, api, onKeyRefused }} />
}

/** How long a key is valid that is issued to open a project. */
const OPEN_MS = 12 * HOUR_MS

interface OpeningProps {
  readonly project: string
  readonly api: Api
  readonly now: () => Date
  readonly onKey: (key: string) => void
  /** Called if the admin key is not accepted. */
  readonly onKeyRefused: (message: string) => void
}

/** Opens a project in a tab with an admin key: it issues a key that may read the project, for as long as somebody looks at it. */
function Opening({ project, api, now, onKey, onKeyRefused }: OpeningProps) {
  const [message, setMessage] = useState<string>()
  useEffect(() => {
    const expiresAt = new Date(now().getTime() + OPEN_MS).toISOString()
    api.issueKey(project, { name: 'explorer', scopes: ['read'], expiresAt }).then(
      ({ secret }) => onKey(secret),
      (error: unknown) => {
        const failure = error instanceof ApiFailure ? error.failure : undefined
        if (failure?.needsKey === true) onKeyRefused(failure.message)
        else setMessage(failure?.message ?? String(error))
      },
    )
  }, [])
  return (
    <main class="key-form" aria-busy={message === undefined}>
      <h1>Tallyhouse</h1>
      {message !== undefined && <p role="alert">The project cannot be opened: {message}</p>}
      <p>
        <a href="/explore">All projects</a>
      </p>
    </main>
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
        <label for="key">API key of a project, or an admin key</label>
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
