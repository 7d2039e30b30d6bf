/** The notes of the project. */
import { useEffect, useState } from 'preact/hooks'
import type { Note } from '../../contract/management-api.js'
import type { Api } from '../client/api.js'

const NONE: readonly Note[] = []

/**
 * Reads the notes of a project, once. Where none can be read, there is none: a service without management does not serve them.
 *
 * @param project its id; undefined while it is not known
 */
export function useNotes(api: Api, project: string | undefined): readonly Note[] {
  const [notes, setNotes] = useState(NONE)
  useEffect(() => {
    if (project !== undefined) api.readNotes(project).then(setNotes, () => undefined)
  }, [api, project])
  return notes
}
