/** A world in DuckDB: the events of a project as they were sent. */
import { openDuckDatabase, type DuckDatabase } from './database.js'
import { createTrackedEvents, DERIVE_FACTS, type Exclusions } from './facts.js'
import { CREATE_PROPERTIES, createSentEvents } from './sent-events.js'
import { sql } from './sql.js'

export interface DuckProject extends Exclusions {
  readonly domain: string
}

/** Opens a database with the facts of events, in the order of their arrival. */
export async function createDuckWorld(
  { domain, ...exclusions }: DuckProject,
  events: readonly object[],
): Promise<DuckDatabase> {
  const database = await openDuckDatabase()
  await database.run(sql`CREATE TABLE lines (arrival VARCHAR, line VARCHAR)`)
  await database.append(
    'lines',
    events.map((event, i) => [String(i), JSON.stringify(event)]),
  )
  const steps = [
    createSentEvents(domain),
    CREATE_PROPERTIES,
    createTrackedEvents(exclusions),
    ...DERIVE_FACTS,
  ]
  for (const step of steps) await database.run(step)
  return database
}
