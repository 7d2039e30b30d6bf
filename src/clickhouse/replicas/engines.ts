/** Turns statements that create plain tables into those that create a replica of them, and back. */
import { DAY_MS, SECOND_MS } from '../../lib/time.js'
import type { Replica } from '../replica.js'

/** How long a replicated table remembers the tokens of inserts: a load is finished long before. */
const TOKENS_SECONDS = (30 * DAY_MS) / SECOND_MS

/** `CREATE TABLE IF NOT EXISTS name`: what the migrations begin with, behind comments. */
const NAME = /\bCREATE TABLE IF NOT EXISTS (\w+)/
/** `ENGINE = SummingMergeTree` or `ENGINE = ReplacingMergeTree(version)`. */
const ENGINE = /\bENGINE = (\w*MergeTree)\b(?:\(([^)]*)\))?/
const SETTINGS = /\bSETTINGS\b/
const WINDOW = /\bnon_replicated_deduplication_window = (\d+)/
const COMMENT_LINE = /^\s*--.*$/gm

/**
 * Returns the statement that creates a table as a replica; a statement that creates no MergeTree table stays as it is. A plain table
 * recognises no repeated insert unless it is told to, so neither does its replica.
 *
 * @param replica undefined for a store on one server, whose tables are plain
 */
export function replicateTable(query: string, replica: Replica | undefined): string {
  if (replica === undefined) return query
  const text = query.replaceAll(COMMENT_LINE, '')
  const table = NAME.exec(text)?.[1]
  const engine = ENGINE.exec(text)
  if (table === undefined || engine === null) return query
  const [whole, family = '', others = ''] = engine
  const args = [
    `'${replica.path}/${table}'`,
    `'${replica.name}'`,
    ...(others === '' ? [] : [others]),
  ]
  const replicated = text.replace(whole, `ENGINE = Replicated${family}(${args.join(', ')})`)
  const window = WINDOW.exec(text)
  const added = [
    `replicated_deduplication_window = ${window?.[1] ?? 0}`,
    `replicated_deduplication_window_seconds = ${TOKENS_SECONDS}`,
    // What is fetched from another replica is synced like what is inserted.
    ...(text.includes('fsync_after_insert = 1')
      ? ['min_compressed_bytes_to_fsync_after_fetch = 1']
      : []),
  ].join(', ')
  if (window !== null) return replicated.replace(window[0], added)
  return SETTINGS.test(replicated)
    ? replicated.replace(SETTINGS, `SETTINGS ${added},`)
    : `${replicated.trimEnd()}\nSETTINGS ${added}`
}

/** `ReplicatedSummingMergeTree('/path', 'name'` at the start of the full text of an engine. */
const REPLICATED = /^Replicated(\w+)\('(?:[^'\\]|\\.)*', '(?:[^'\\]|\\.)*'(?:, )?/

/** Returns the full text of a plain engine for that of a replicated one, as `system.tables` has it. */
export const toPlainEngine = (engine: string): string => engine.replace(REPLICATED, '$1(')

/** Returns the statement that creates on one replica what `query` creates on another one of this name. */
export const moveToReplica = (query: string, from: string, to: string): string =>
  query.replace(
    /(ENGINE = Replicated\w+\('(?:[^'\\]|\\.)*', ')((?:[^'\\]|\\.)*)'/,
    (whole, start: string, name: string) => (name === from ? `${start}${to}'` : whole),
  )
