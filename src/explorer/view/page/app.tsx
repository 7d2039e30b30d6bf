/** The page: the numbers, or the form that asks for a key. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { findAccess, forgetKey, keepKey, type Access } from '../../client/access.js'
import { connectApi } from '../../client/api.js'
import { Explorer } from './explorer.js'
import { KeyForm } from './key-form.js'

export interface AppProps {
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
