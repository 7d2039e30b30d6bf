/** The project of the page: its name, its time zone, and how its first event is sent while it has none. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Access } from '../client/access.js'
import type { Api } from '../client/api.js'
import type { Project } from '../client/contract.js'
import { CopyButton } from './controls.js'
import { repeatWhileVisible } from './use-responses.js'

interface KnownProject {
  /** Empty until it is known. */
  readonly name: string
  /** Undefined until it is known, and always on the page of a public dashboard, which has the name alone. */
  readonly project?: Project
  /** Its time zone. Until the project is known, UTC on a page that is not a public dashboard. */
  readonly zone: string
}

/** How often a page that is looked at asks whether the first event is there. */
const WAIT_MS = 3_000

/**
 * Finds out which project the page is about, and waits for its first event.
 *
 * @param onFirstEvent called when the project gets its first event while the page is open
 */
export function useProject(
  api: Api,
  { key }: Access,
  browser: Window,
  onFirstEvent: () => void,
): KnownProject {
  const { document } = browser
  const [known, setKnown] = useState<KnownProject>(() => {
    const { project: name = '', zone = '' } = document.body.dataset
    return { name, zone: zone === '' ? 'UTC' : zone }
  })
  const { name, project } = known
  const isWaiting = project?.firstEventAt === null
  // Without the project the page only lacks its name; why is said by the responses.
  const read = (use: (project: Project) => void): void =>
    void api.readProject().then(use, () => undefined)
  const keep = (found: Project): void =>
    setKnown({ name: found.name, project: found, zone: found.timeZone ?? 'UTC' })
  useEffect(() => {
    if (key !== undefined) read(keep)
  }, [api])
  useEffect(() => {
    if (!isWaiting) return
    const look = (found: Project): void => {
      if (found.firstEventAt === null) return
      keep(found)
      onFirstEvent()
    }
    return repeatWhileVisible(browser, WAIT_MS, () => read(look))
  }, [api, isWaiting])
  useEffect(() => {
    if (name !== '') document.title = `${name} · Tallyhouse`
  }, [name])
  return known
}

/** Says how the first event is sent, while a project has none. */
export function FirstEvent({
  project: { token },
  base,
}: {
  readonly project: Pick<Project, 'token'>
  /** The address of the service. */
  readonly base: string
}) {
  const code = useRef<HTMLPreElement>(null)
  return (
    <section class="first-event sheet" aria-label="First event">
      <h2>Waiting for the first event</h2>
      <p>Add this line to the pages of the site. Every view of a page is then counted:</p>
      <pre
        ref={code}
        tabIndex={0}
      >{`<script defer src="${base}/tally.js" data-token="${token}"></script>`}</pre>
      <CopyButton code={code} />
      <p>
        Or <a href="/docs/start">send events from a server, or import files</a>. The numbers appear
        here by themselves once the first event is stored.
      </p>
    </section>
  )
}
