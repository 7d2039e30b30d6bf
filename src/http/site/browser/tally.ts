/*! Tallyhouse tracking script, Apache-2.0 */
/**
 * The script that web pages load to send their events. It is JavaScript of 2020 without modules or `eval`. It
 * stores nothing, defines no global but `tally`, and throws nothing into the page.
 *
 * - Events wait for the end of the running task and are sent together, in order, so that the first event of a
 *   visit arrives first. While the browser prerenders the page they wait until it is shown.
 * - One value that the collector rejects would cost all events of the request. Numbers beyond 2^53 are therefore
 *   sent as strings; NULs and lone surrogates are left out.
 * - Only the first event of a page carries the referrer.
 * - Calls of the page's stub for `tally` still count after the script has loaded.
 * - A second copy of the script does nothing.
 * - With `data-vitals` or `data-engagement` it loads one of the scripts of pageleave/ from beside it, which sends what a pageview
 *   measured when the pageview ends.
 */

type Call = [name: string, properties?: unknown]

/** Sends an event. */
type Tally = ((...call: Call) => void) & { q?: CallQueue }

/** Before the script has loaded, an array of calls; afterwards, the object that takes further calls. */
export interface CallQueue {
  /** The attributes of the script's tag. Set by the script, so that a second copy recognizes the first. */
  readonly on?: DOMStringMap
  /** The URL of the last pageview. */
  page?: string
  /** Called before the next pageview. */
  end?: () => void
  readonly push: (call: Call) => void
  readonly forEach?: (take: (call: Call) => void) => void
}

declare global {
  interface Window {
    tally?: Tally
  }
  interface Navigator {
    readonly globalPrivacyControl?: boolean
  }
  interface Document {
    prerendering?: boolean
  }
}

function start(): void {
  const queue: CallQueue = window.tally?.q ?? ([] as Call[])
  const tag = document.currentScript as HTMLScriptElement | null
  if (!tag || queue.on) return

  const settings = tag.dataset
  const { doNotTrack, globalPrivacyControl } = navigator
  const isQuiet =
    isIgnored() || ('respectDnt' in settings && (doNotTrack == '1' || globalPrivacyControl))
  // eslint-disable-next-line @typescript-eslint/prefer-nullish-coalescing -- an empty attribute counts as missing
  const url = settings['endpoint'] || new URL('/v1/events', tag.src || location.href)
  const enqueue = createSender(url, settings['token'])
  let referrer: string | undefined = document.referrer || undefined
  let lastPage: string | undefined

  const readPage = (): string | undefined => location.href.split('hash' in settings ? ' ' : '#')[0]

  const tally: Tally = (name, properties) => {
    try {
      if (isQuiet || !name.trim()) return
      const isPageview = name == 'pageview'
      if (isPageview) state.end?.()
      const event = {
        event_id: crypto.getRandomValues(new Uint32Array(4)).join('-'),
        name: name.slice(0, 128),
        // In a single-page app, the address has changed by the time that a pageview ends.
        url: ((name == 'pageleave' ? state.page : undefined) ?? location.href).slice(0, 8192),
        referrer_url: referrer,
        properties: limitProperties(properties),
      }
      enqueue(toJson(event))
      referrer = undefined
      if (isPageview) {
        lastPage = readPage()
        state.page = event.url
      }
    } catch {
      // The call was invalid, e.g. without a name. The page must not fail.
    }
  }

  const checkPage = (): void => {
    if (readPage() != lastPage) tally('pageview')
  }

  const state: CallQueue = { on: settings, push: (call) => tally(...call) }

  window.tally = tally
  tally.q = state
  if (!('manual' in settings)) {
    onNavigation(checkPage)
    addEventListener('pageshow', (event) => event.persisted && tally('pageview'))
    checkPage()
  }
  queue.forEach?.(state.push)
  const measured = 'vitals' in settings ? '-vitals$&' : 'engagement' in settings && '-engagement$&'
  if (measured && !isQuiet) loadBeside(tag, measured)
}

/** Whether the user wants no events from this browser. Where storage is blocked, nobody can have said so. */
function isIgnored(): boolean {
  try {
    return localStorage['tally_ignore'] == 'true'
  } catch {
    return false
  }
}

/** Loads the script that has another name in place of `.js`. @param name `-vitals$&`, for `tally-vitals.js` */
function loadBeside(tag: HTMLScriptElement, name: string): void {
  try {
    const script = document.createElement('script')
    script.src = tag.src.replace(/\.js(?!.*\.js)/, name)
    script.nonce = tag.nonce ?? ''
    document.head.append(script)
  } catch {
    // The page allows no scripts that others load. It must not fail.
  }
}

/** Creates a function that adds an event, as JSON, to those sent at the end of the running task. */
function createSender(url: string | URL, token: string | undefined): (event: string) => void {
  const waiting: string[] = []
  // Some browsers and blockers remove sendBeacon.
  const browser: Partial<Navigator> = navigator

  const send = async (): Promise<void> => {
    while (waiting[0] && !document.prerendering) {
      const body = `{"token":"${token}","events":[${waiting.splice(0, 50).join()}]}`
      try {
        if (!browser.sendBeacon?.(url, body)) {
          const keepalive = !browser.sendBeacon
          await fetch(url, { method: 'POST', body, mode: 'no-cors', keepalive })
        }
      } catch {
        // These events are lost. The page must not fail.
      }
    }
  }

  document.addEventListener('prerenderingchange', () => void send())
  return (event) => {
    waiting.push(event)
    queueMicrotask(() => void send())
  }
}

/** Calls `checkPage` whenever the page's address may have changed without a reload. */
function onNavigation(checkPage: () => void): void {
  for (const name of ['pushState', 'replaceState'] as const) {
    const change = history[name].bind(history)
    history[name] = (...to) => {
      change(...to)
      checkPage()
    }
  }
  addEventListener('popstate', checkPage)
}

/** Keeps what the collector accepts: 64 properties with names of 1 to 128 characters. */
const limitProperties = (properties: unknown): object | undefined =>
  properties && typeof properties == 'object'
    ? Object.fromEntries(
        Object.entries(properties)
          .filter(([key]) => key && key.length < 129)
          .slice(0, 64),
      )
    : undefined

/** Writes JSON without numbers beyond 2^53, NULs and lone surrogates. */
const toJson = (event: object): string =>
  JSON.stringify(event, (_key, value: unknown) =>
    typeof value == 'number' && Math.abs(value) > 9e15 ? String(value) : value,
  ).replace(/\\(u0000|ud[89a-f]..|.)/g, (escape, code: string) => (code[4] ? '' : escape))

start()
