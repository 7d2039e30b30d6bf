/** Opens DuckDB databases in memory. */
import { DuckDBInstance, type JS } from '@duckdb/node-api'
import type { Sql } from './sql.js'

export interface DuckDatabase {
  run<Row extends Readonly<Record<string, JS>>>(statement: Sql): Promise<readonly Row[]>
  /** Appends rows of texts to a table. */
  append(table: string, rows: readonly (readonly string[])[]): Promise<void>
  close(): void
}

/** Opens an empty database that uses one core and no network. */
export async function openDuckDatabase(): Promise<DuckDatabase> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  return {
    run: async <Row extends Readonly<Record<string, JS>>>({ text, values }: Sql) => {
      const reader = await connection.runAndReadAll(text, [...values])
      return reader.getRowObjectsJS() as unknown as readonly Row[]
    },
    append: async (table, rows) => {
      const appender = await connection.createAppender(table)
      for (const row of rows) {
        for (const value of row) appender.appendVarchar(value)
        appender.endRow()
      }
      appender.closeSync()
    },
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}
