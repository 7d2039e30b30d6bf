/** Compares what is stored of a project with what its queries read. */
import { readAt, readMoment } from '../../../src/changes/moment.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'

/** Counts the events that are stored, and those that queries read now. */
export async function countEvents(
  { reader, database }: Store,
  id: string,
): Promise<{ readonly stored: number; readonly read: number }> {
  const moment = (await readMoment(reader, [id], AbortSignal.timeout(10_000)))!
  const count = async (settings = {}): Promise<number> => {
    const { rows } = await reader.query<{ n: number }>(
      statement(sql`SELECT toUInt32(count()) AS n FROM events WHERE project_id = ${string(id)}`),
      { settings },
    )
    return rows[0]!.n
  }
  return { stored: await count(), read: await count(readAt([id], moment, database)) }
}
