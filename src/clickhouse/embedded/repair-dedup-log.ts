/**
 * Repairs the deduplication logs that a killed engine left behind.
 *
 * The engine logs the token of an insert, then moves the part of the insert into place. An engine killed between
 * the two has the token without the rows, and would drop the rows whenever they are inserted again.
 */
import { readdir, readFile, truncate } from 'node:fs/promises'
import path from 'node:path'

const LOG_FOLDER = 'deduplication_logs'
const LOG = /^deduplication_log_(\d+)\.txt$/
/** A line that adds the token of a part, with the part's partition and its first and last block. */
const ADDED = /^1\t([^_\t]+)_(\d+)_(\d+)_\d+\t.*\n$/
/** The name of a part: its partition, first and last block, level, and perhaps the number of a mutation. */
const PART = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/

/**
 * Removes each token whose rows are missing. The inserts of a table run one after the other, so only the last
 * line of its log can add such a token. No engine may run on the folder.
 */
export async function repairDedupLogs(engineDir: string): Promise<void> {
  const store = path.join(engineDir, 'data', 'store')
  for (const prefix of await listFolder(store)) {
    for (const table of await listFolder(path.join(store, prefix))) {
      await repairTable(path.join(store, prefix, table))
    }
  }
}

async function repairTable(folder: string): Promise<void> {
  const logs = (await listFolder(path.join(folder, LOG_FOLDER)))
    .map((name) => ({ name, number: Number(LOG.exec(name)?.[1] ?? -1) }))
    .filter(({ number }) => number >= 0)
    .sort((a, b) => b.number - a.number)
  for (const { name } of logs) {
    const file = path.join(folder, LOG_FOLDER, name)
    // One character per byte, so that lengths of text are lengths in the file.
    const text = await readFile(file, 'latin1')
    // A new log may still be empty; the last line is then in the one before.
    if (text === '') continue
    const line = text.slice(text.lastIndexOf('\n', text.length - 2) + 1)
    if (await isWithoutPart(line, folder)) await truncate(file, text.length - line.length)
    return
  }
}

/** Returns whether a line adds a token whose blocks are in no part: neither in their own nor in a merged one. */
async function isWithoutPart(line: string, folder: string): Promise<boolean> {
  const [, partition, first, last] = ADDED.exec(line) ?? []
  if (partition === undefined) return false
  const parts = (await listFolder(folder)).map((name) => PART.exec(name))
  return !parts.some(
    (part) =>
      part?.[1] === partition &&
      Number(part[2]) <= Number(first) &&
      Number(part[3]) >= Number(last),
  )
}

/** Returns the names in a folder; none when the folder does not exist. */
async function listFolder(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
