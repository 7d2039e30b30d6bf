/** The script that web pages load to send what happens on them. */

/**
 * JavaScript of 2020, without modules; it needs no eval, stores nothing, and throws nothing into the page.
 * Its rules:
 *
 * - Events wait for the end of the running task and go together, in order: what a visit began with arrives
 *   first. While the browser renders the page ahead they wait on, until it is shown.
 * - What the collector refuses does not get into a request, as the other events in it would be lost: numbers
 *   beyond 2^53 go as texts, NULs and halves of characters are left out.
 * - The first event of a page alone says where the visitor came from.
 * - What calls the page's stand-in for `tally` after the script was loaded is heard, too.
 * - A second copy of the script does nothing.
 */
const SOURCE = String.raw`/*! Tallyhouse tracking script, Apache-2.0 */
((w, d, n) => {
  const queue = w.tally?.q || []
  const tag = d.currentScript
  if (!tag || queue.on) return

  const set = tag.dataset
  const url = set.endpoint || new URL('/v1/events', tag.src || location)
  const quiet = 'respectDnt' in set && (n.doNotTrack == 1 || n.globalPrivacyControl)
  const waiting = []
  let referrer_url = d.referrer || undefined
  let seen

  const here = () => location.href.split('hash' in set ? ' ' : '#')[0]

  const send = async () => {
    while (waiting[0] && !d.prerendering) {
      const body = '{"token":"' + set.token + '","events":[' + waiting.splice(0, 50) + ']}'
      try {
        n.sendBeacon?.(url, body) ||
          await fetch(url, { method: 'POST', body, mode: 'no-cors', keepalive: !n.sendBeacon })
      } catch {}
    }
  }

  const tally = (name, data) => {
    try {
      if (quiet || !name.trim()) return
      waiting.push(JSON.stringify({
        event_id: crypto.getRandomValues(new Uint32Array(4)).join('-'),
        name: name.slice(0, 128),
        url: location.href,
        referrer_url,
        properties: data && typeof data == 'object' ? Object.fromEntries(
          Object.entries(data).filter(([key]) => key && key.length < 129).slice(0, 64)
        ) : undefined
      }, (_, v) => typeof v == 'number' && Math.abs(v) > 9e15 ? v + '' : v)
        .replace(/\\(u0000|ud[89a-f]..|.)/g, (all, code) => code[4] ? '' : all))
      referrer_url = undefined
      if (name == 'pageview') seen = here()
      queueMicrotask(send)
    } catch {}
  }

  const look = () => here() == seen || tally('pageview')

  w.tally = tally
  tally.q = { on: 1, push: (call) => tally(...call) }
  d.addEventListener('prerenderingchange', send)
  if (!('manual' in set)) {
    for (const name of ['pushState', 'replaceState']) {
      const change = history[name]
      history[name] = (...to) => {
        change.apply(history, to)
        look()
      }
    }
    w.addEventListener('popstate', look)
    w.addEventListener('pageshow', (e) => e.persisted && tally('pageview'))
    look()
  }
  queue.forEach(tally.q.push)
})(window, document, navigator)
`

/** The script as it is served, with narrower indents to stay under 2,048 bytes. */
export const TRACKING_SCRIPT = SOURCE.replaceAll('  ', ' ')
