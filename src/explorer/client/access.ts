/** How the page is allowed to ask: by a key of the tab, or on the page of a public dashboard without one. */
import { recognizeCredential } from '../../contract/bearer.js'

export interface Access {
  /** What the paths of the API follow: the address of the service, for public dashboards with `/share/…`. */
  readonly base: string
  /** An API key of a project, or an admin key; undefined on the page of a public dashboard. */
  readonly key: string | undefined
  /** The project of the address `/explore/…`, if the tab has an admin key. */
  readonly project?: string
}

/** Whether it is allowed to ask about several projects. */
export const isForAdmin = ({ key = '' }: Access): boolean =>
  recognizeCredential(key) === 'admin key'

const STORED = 'tallyhouse-key'

/** Where the key of a project is kept that was issued for a tab with an admin key. */
const nameStored = ({ project }: Pick<Access, 'project'>): string =>
  project === undefined ? STORED : `${STORED}:${project}`

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
 * key, and keeps none. An admin key cannot ask about a project alone: the tab has a key of its own for each that is opened.
 *
 * @returns undefined if the page has to ask for a key
 */
export function findAccess(browser: Browser): Access | undefined {
  const { location, history } = browser
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  if (given !== null) history.replaceState(null, '', location.pathname + location.search)
  const [path] = /^\/share\/[^/]+/.exec(location.pathname) ?? []
  if (path !== undefined) return { base: location.origin + path, key: undefined }
  // Only now: a browser may refuse it to a public dashboard that another site shows in a frame.
  const { sessionStorage } = browser
  if (given !== null) sessionStorage.setItem(STORED, given)
  const key = sessionStorage.getItem(STORED)
  if (key === null) return undefined
  const access = { base: location.origin, key }
  const [, project] = /^\/explore\/([^/]+)/.exec(location.pathname) ?? []
  if (project === undefined || !isForAdmin(access)) return access
  return { ...access, project, key: sessionStorage.getItem(nameStored({ project })) ?? key }
}

/**
 * Keeps a key until the tab is closed.
 *
 * @param access the one that the key is for; undefined if the tab has none
 */
export function keepKey(browser: Browser, key: string, access?: Access): Access {
  browser.sessionStorage.setItem(nameStored(access ?? {}), key)
  return findAccess(browser) ?? { base: browser.location.origin, key }
}

/** Forgets the key of an access. */
export const forgetKey = ({ sessionStorage }: Browser, access: Access): void =>
  sessionStorage.removeItem(isForAdmin(access) ? STORED : nameStored(access))
