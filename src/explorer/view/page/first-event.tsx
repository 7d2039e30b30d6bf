/** Says how the first event is sent, while a project has none. */
import { useRef } from 'preact/hooks'
import type { Project } from '../../client/contract.js'
import { CopyButton } from '../footer/copy-button.js'

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
