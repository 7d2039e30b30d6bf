/** A connection whose statements give way to those of others: for work that nobody waits for. */
import type { Connection, Settings } from './connection.js'

/** As nice as a process that runs in the background: its threads get what the others leave of the cores. */
const BEHIND: Settings = { os_thread_priority: '10' }

export const withLowPriority = (connection: Connection): Connection => ({
  ...connection,
  query: (statement, options = {}) =>
    connection.query(statement, { ...options, settings: { ...BEHIND, ...options.settings } }),
  execute: (statement, settings) => connection.execute(statement, { ...BEHIND, ...settings }),
})
