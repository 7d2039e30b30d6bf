/** How the page is allowed to ask: by an API key of the tab, or on the page of a public dashboard without one. */

export interface Access {
  /** What the paths of the API follow: the address of the service, for public dashboards with `/share/…`. */
  readonly base: string
  /** Undefined on the page of a public dashboard. */
  readonly key: string | undefined
}

const STORED = 'tallyhouse-key'

/** The parts of the browser that hold an access. */
export interface Browser {
  readonly location: {
    readonly origin: string
    readonly pathname: string
    readonly search: string
    readonly hash: string
  }
  readonly history: { readonly replaceState: (data: null, title: '', url: string) => void }
  readonly sessionStorage: {
    readonly getItem: (name: string) => string | null
    readonly setItem: (name: string, value: string) => void
    readonly removeItem: (name: string) => void
  }
}

/**
 * Finds the access of the page. A key in the fragment, as in `/explore#key=…`, moves to the storage of the tab, and leaves the
 * address at once: servers never get fragments, and the browser's history does not keep this one. A public dashboard needs no
 * key, and keeps none.
 *
 * @returns undefined if the page has to ask for a key
 */
export function findAccess({ location, history, sessionStorage }: Browser): Access | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  if (given !== null) history.replaceState(null, '', location.pathname + location.search)
  const [path] = /^\/share\/[^/]+/.exec(location.pathname) ?? []
  if (path !== undefined) return { base: location.origin + path, key: undefined }
  if (given !== null) sessionStorage.setItem(STORED, given)
  const key = sessionStorage.getItem(STORED)
  return key === null ? undefined : { base: location.origin, key }
}

/** Keeps a key until the tab is closed. */
export const keepKey = ({ location, sessionStorage }: Browser, key: string): Access => {
  sessionStorage.setItem(STORED, key)
  return { base: location.origin, key }
}

/** Forgets the key of the tab. */
export const forgetKey = ({ sessionStorage }: Browser): void => sessionStorage.removeItem(STORED)
