/**
 * Takes back what a killed engine left untrue in its logs of inserts.
 *
 * The engine writes down the token of an insert, then moves the insert's part into place. Killed between
 * the two, it knows the token of rows that are not there: it would drop them whenever they come again.
 */
import { readdir, readFile, truncate } from 'node:fs/promises'
import path from 'node:path'

const LOGS = 'deduplication_logs'
const LOG = /^deduplication_log_(\d+)\.txt$/
/** A line that adds the token of a part: the part has a partition, and its first and last block. */
const ADDED = /^1\t([^_\t]+)_(\d+)_(\d+)_\d+\t.*\n$/
const PART = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/

/**
 * Removes each token without its rows. Tables are written one insert after the other, so that can be but
 * the last line of a table's log. No engine may run on the folder.
 *
 * @param home the engine's folder
 */
export async function repairDedupLogs(home: string): Promise<void> {
  const store = path.join(home, 'data', 'store')
  for (const prefix of await namesIn(store)) {
    for (const table of await namesIn(path.join(store, prefix))) {
      await mendTable(path.join(store, prefix, table))
    }
  }
}

async function mendTable(folder: string): Promise<void> {
  const logs = (await namesIn(path.join(folder, LOGS)))
    .map((name) => ({ name, number: Number(LOG.exec(name)?.[1] ?? -1) }))
    .filter(({ number }) => number >= 0)
    .sort((a, b) => b.number - a.number)
  for (const { name } of logs) {
    const file = path.join(folder, LOGS, name)
    const text = await readFile(file, 'latin1')
    // A log is begun while it is still empty; then the last line stands in the one before.
    if (text === '') continue
    const line = text.slice(text.lastIndexOf('\n', text.length - 2) + 1)
    if (await isFalse(line, folder)) await truncate(file, text.length - line.length)
    return
  }
}

async function isFalse(line: string, folder: string): Promise<boolean> {
  const [, partition, first, last] = ADDED.exec(line) ?? []
  if (partition === undefined) return false
  const parts = (await namesIn(folder)).map((name) => PART.exec(name))
  return !parts.some(
    (part) =>
      part?.[1] === partition &&
      Number(part[2]) <= Number(first) &&
      Number(part[3]) >= Number(last),
  )
}

/** What a folder holds; nothing where there is none. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
