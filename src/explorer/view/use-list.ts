/** What the project has beside its numbers: notes, goals and segments. */
import { useEffect, useState } from 'preact/hooks'
import type { Api, ProjectLists } from '../client/api.js'

/**
 * Reads a list of a project, once. It is empty where it cannot be read: on public dashboards, and where another service has it.
 *
 * @param project its id; undefined while it is not known, or while nobody looks at the list
 */
export function useList<Kind extends keyof ProjectLists>(
  api: Api,
  project: string | undefined,
  kind: Kind,
): ProjectLists[Kind] {
  const [list, setList] = useState<ProjectLists[Kind]>([])
  useEffect(() => {
    if (project !== undefined) api.readList(project, kind).then(setList, () => undefined)
  }, [api, project])
  return list
}
