/** Tells the rows of projects, and of users of wide projects, that live on another shard: they are forwarded, not loaded. */
import { boolean, sql, string, uint64, type Sql } from '../../../clickhouse/sql.js'
import { writeHasOwnId, writeIndexOf } from '../../../cluster/choose-shard.js'
import { POSITION } from '../../inbox/position.js'
import { readField } from './validate-rows.js'
import type { LoadTables } from './shared/load-tables.js'

/** A shard, by which its loads know the rows of projects that live on others. */
export interface LoadedShardName {
  readonly name: string
  /** Whether projects live here that name no shard. */
  readonly isHome: boolean
}

/** The pieces of SQL by which rows are told; empty for a store without a cluster. */
export interface Residence {
  /** Further columns of the projects. */
  readonly column: Sql
  /** Whether the project of a row, `known`, or its user lives elsewhere, as further columns of the rows. */
  readonly select: Sql
  /** The fate of a row of the stream whose project lives elsewhere, valid or not: that shard rejects and counts it. */
  readonly leaves: Sql
  /** The first fates of a valid row, with their conditions. */
  readonly fate: Sql
  /** Adds the reason of rejected rows to those of the others. */
  readonly explain: (reason: Sql) => Sql
}

const ALL_HERE: Residence = {
  column: sql``,
  select: sql``,
  leaves: sql``,
  fate: sql``,
  explain: (reason) => reason,
}

const USER_ID = readField('user_id')

/** The shard of a row's user who has an own id. A project that is not known has no shards. */
const SHARD_OF_USER = sql`known.shards[${writeIndexOf(USER_ID, sql`greatest(length(known.shards), 1)`)} + 1]`

/**
 * Only rows of the stream are forwarded. Those of an import are not loaded: it goes to the other shard when it is repeated. Users
 * change their shard when their project is widened; derived ones stay.
 */
export function buildResidence(shard: LoadedShardName | undefined): Residence {
  if (shard === undefined) return ALL_HERE
  const isNamed = sql`has(known.shards, ${string(shard.name)})`
  const isHere = sql`if(empty(known.shards), ${boolean(shard.isHome)}, ${isNamed})`
  return {
    column: sql`, shards, notEmpty(former_widths) AS was_widened`,
    select: sql`
    known.id != '' AND NOT (${isHere}) AS lives_elsewhere,
    known.was_widened AND ${writeHasOwnId(USER_ID)} AND ${SHARD_OF_USER} != ${string(shard.name)} AS user_lives_elsewhere,`,
    leaves: sql`batch = '' AND lives_elsewhere, 'forwarded', `,
    fate: sql`lives_elsewhere OR user_lives_elsewhere, if(batch = '', 'forwarded', 'rejected'), `,
    explain: (reason) => sql`multiIf(
    batch = '' OR notEmpty(faults), ${reason},
    lives_elsewhere, 'the project has moved to another shard: import this again',
    user_lives_elsewhere, 'the project has been widened, and the user lives on another shard now: import only this row again',
    ${reason})`,
  }
}

/** The start of a JSON object, and its end if it is empty. */
const START = string(String.raw`^\s*\{\s*(\}?)`)

/**
 * Puts the rows of a load that are forwarded into the table `forwards`. Each gets an event id if it has none, so that it counts
 * once however often it is sent. It is one insert of one block, and adds nothing if the load has put its rows there already: ClickHouse
 * does not always recognise a repeated insert of a join.
 *
 * @param rows the FROM clause that selects the rows of the load from the inbox
 */
export const insertForwards = (
  tables: LoadTables,
  load: number,
  rows: Sql,
  shard: LoadedShardName,
): Sql => sql`
INSERT INTO forwards (load, seq, project, line, received_at, age_checked)
SELECT
  ${uint64(load)}, seq, project_id,
  if(event_key != 0, line, replaceRegexpOne(line, ${START}, concat(
    '{"event_id":"', ${string(shard.name)}, '-', toString(seq), '-', toString(toUnixTimestamp64Milli(received_at)),
    if(extract(line, ${START}) = '', '",', '"}')))),
  received_at, age_checked
FROM (
  SELECT ${POSITION} AS seq, line, received_at, age_checked
  ${rows}
) AS received
INNER JOIN (SELECT seq, project_id, event_key FROM ${tables.rows} WHERE fate = 'forwarded') AS load_rows USING (seq)
WHERE ${uint64(load)} NOT IN (SELECT load FROM forwards WHERE load = ${uint64(load)})`
