/** Finds out which project the page is about. */
import { useEffect, useState } from 'preact/hooks'
import type { Access } from '../../client/access.js'
import type { Api } from '../../client/api.js'
import type { Project } from '../../client/contract.js'

export interface KnownProject {
  /** Empty until it is known. */
  readonly name: string
  /** Undefined until it is known, and always on the page of a public dashboard, which has the name alone. */
  readonly project?: Project
}

export function useProject(api: Api, { key }: Access, document: Document): KnownProject {
  const [known, setKnown] = useState<KnownProject>({ name: document.body.dataset['project'] ?? '' })
  useEffect(() => {
    // Without it the page only lacks its name; why is said by the answers.
    if (key !== undefined) {
      api.readProject().then(
        (project) => setKnown({ name: project.name, project }),
        () => undefined,
      )
    }
  }, [api])
  useEffect(() => {
    if (known.name !== '') document.title = `${known.name} · Tallyhouse`
  }, [known])
  return known
}
