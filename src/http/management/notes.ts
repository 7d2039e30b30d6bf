/** The operations on the notes of projects. */
import type { NewNote, Note, NoteList } from '../../contract/management-api.js'
import { createNote, deleteNote, listNotes, type StoredNote } from '../../management/notes.js'
import { defineOperation, requireOwnProject, type ManagementOperation } from './management-api.js'
import { parseTime } from './parse-time.js'

const NOTES = '/v1/projects/{id}/notes'

export const NOTE_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation({
    method: 'get',
    path: NOTES,
    scope: 'projects:read',
    isForProjectKeys: true,
    run: async (api, request) => {
      const { id } = await requireOwnProject(api, request)
      const { from, to } = request.query
      const notes = await listNotes(api.cluster.home.store.writer, id, {
        from: from === undefined ? null : parseTime('from', from),
        to: to === undefined ? null : parseTime('to', to),
      })
      return { status: 200, body: { notes: notes.map(presentNote) } satisfies NoteList }
    },
  }),
  defineOperation<NewNote>({
    method: 'post',
    path: NOTES,
    scope: 'notes:write',
    run: async (api, request) => {
      const project = await requireOwnProject(api, request)
      const { at, until = null, text } = request.body
      const note = await createNote(request.context, project, {
        at: at === undefined ? api.now() : parseTime('at', at),
        until: until === null ? null : parseTime('until', until),
        text,
      })
      return { status: 201, body: presentNote(note) }
    },
  }),
  defineOperation({
    method: 'delete',
    path: `${NOTES}/{note}`,
    scope: 'notes:write',
    run: async (api, request) => {
      const project = await requireOwnProject(api, request)
      await deleteNote(request.context, project, request.params['note'] ?? '')
      return { status: 204 }
    },
  }),
]

const presentNote = ({ id, at, until, text, createdAt }: StoredNote): Note => ({
  id,
  at: at.toISOString(),
  until: until?.toISOString() ?? null,
  text,
  createdAt: createdAt.toISOString(),
})
