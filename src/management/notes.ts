/** Notes of projects: what happened at a moment or in a period. They are stored at home. */
import type { Connection } from '../clickhouse/connection.js'
import {
  and,
  boolean,
  optionalTime,
  sql,
  statement,
  string,
  time,
  TRUE,
  uint64,
  type Sql,
} from '../clickhouse/sql.js'
import { FieldValueError, MissingError } from '../lib/errors.js'
import type { StoredProject } from '../projects/project.js'
import { recordChange } from './audit-log.js'
import { createId, type ManagementContext } from './context.js'

export interface StoredNote {
  readonly id: string
  readonly at: Date
  /** The end of a period; null for a moment. */
  readonly until: Date | null
  readonly text: string
  readonly createdAt: Date
}

type NewNote = Pick<StoredNote, 'at' | 'until' | 'text'>
type Project = Pick<StoredProject, 'id' | 'org'>

const MAX_LENGTH = 1_000
/** A page that shows notes shows no more of them. */
const MAX_NOTES = 10_000

/** Writes a note. @throws FieldValueError for an empty text, or a period that ends before it starts */
export async function createNote(
  context: ManagementContext,
  project: Project,
  { at, until, text }: NewNote,
): Promise<StoredNote> {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > MAX_LENGTH || /[^\P{C}\n\t]/u.test(trimmed)) {
    throw new FieldValueError('text', `a note has 1 to ${MAX_LENGTH} printable characters`)
  }
  if (until !== null && until <= at) {
    throw new FieldValueError('until', 'the period of a note ends after it starts')
  }
  const id = createId(context, 'note_', 12)
  const note = { id, at, until, text: trimmed, createdAt: context.now() }
  const { writer } = context.cluster.home.store
  await insert(writer, project.id, note, { isDeleted: false, version: 1 })
  await recordChange(context, {
    action: 'note.create',
    project,
    target: id,
    after: { at, until, text: trimmed },
  })
  return note
}

/** The notes of a period: moments in it, and periods that overlap it. */
interface NotePeriod {
  readonly from: Date | null
  /** Does not belong to the period. */
  readonly to: Date | null
}

/** Returns the notes of a period, the earliest first, at most 10,000. */
export const listNotes = (
  writer: Connection,
  projectId: string,
  { from, to }: NotePeriod,
): Promise<readonly StoredNote[]> => {
  const isWithin = and([
    from === null ? TRUE : sql`ifNull(until, at) >= ${time(from)}`,
    to === null ? TRUE : sql`at < ${time(to)}`,
  ])
  return select(writer, sql`project_id = ${string(projectId)} AND NOT is_deleted AND ${isWithin}`)
}

/** Deletes a note. @throws MissingError for an unknown note */
export async function deleteNote(
  context: ManagementContext,
  project: Project,
  id: string,
): Promise<void> {
  const { writer } = context.cluster.home.store
  const [note] = await select(
    writer,
    sql`project_id = ${string(project.id)} AND id = ${string(id)} AND NOT is_deleted`,
  )
  if (note === undefined) throw new MissingError(`there is no note ${id}`)
  await insert(writer, project.id, { ...note, text: '' }, { isDeleted: true, version: 2 })
  const { at, until, text } = note
  await recordChange(context, {
    action: 'note.delete',
    project,
    target: id,
    before: { at, until, text },
  })
}

interface NoteRow {
  readonly id: string
  readonly at_ms: number
  readonly until_ms: number | null
  readonly text: string
  readonly created_ms: number
}

async function select(writer: Connection, condition: Sql): Promise<readonly StoredNote[]> {
  const { rows } = await writer.query<NoteRow>(
    statement(sql`
SELECT id, toUnixTimestamp64Milli(at) AS at_ms, toUnixTimestamp64Milli(until) AS until_ms, text,
  toUnixTimestamp64Milli(created_at) AS created_ms
FROM notes FINAL WHERE ${condition} ORDER BY at, id LIMIT ${uint64(MAX_NOTES)}`),
  )
  return rows.map((row) => ({
    id: row.id,
    at: new Date(row.at_ms),
    until: row.until_ms === null ? null : new Date(row.until_ms),
    text: row.text,
    createdAt: new Date(row.created_ms),
  }))
}

const insert = (
  writer: Connection,
  projectId: string,
  { id, at, until, text, createdAt }: StoredNote,
  { isDeleted, version }: { readonly isDeleted: boolean; readonly version: number },
): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO notes (project_id, id, at, until, text, created_at, is_deleted, version)
SELECT ${string(projectId)}, ${string(id)}, ${time(at)}, ${optionalTime(until)}, ${string(text)}, ${time(createdAt)},
  ${boolean(isDeleted)}, ${uint64(version)}`),
  )
