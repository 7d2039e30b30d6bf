/** Builds users.xml: the accounts of the embedded engine, with their grants and limits. */
import { createHash } from 'node:crypto'
import type { Account, Endpoint } from '../endpoint.js'
import type { Limits } from './limits.js'

/** The table engines that the writer may use. None of them reads files or the network. */
const TABLE_ENGINES = [
  'MergeTree',
  'ReplacingMergeTree',
  'SummingMergeTree',
  'AggregatingMergeTree',
  'CollapsingMergeTree',
  'VersionedCollapsingMergeTree',
  'CoalescingMergeTree',
  'Null',
  'Memory',
]

/**
 * What queries and lookups read. The reader has no right to the salts, by which derived users could be found out, to the
 * text of events that wait in the inbox, or to the tables of loads, which hold IP addresses. Tables of an account in
 * clickhouse/config/users.xml are the same.
 */
export const READER_TABLES = [
  ...['projects', 'definitions', 'api_keys', 'public_keys'],
  ...['events', 'sessions', 'users', 'usage'],
  ...['sessions_daily', 'pageviews_daily', 'events_daily', 'users_daily'],
  ...['sessions_monthly', 'pageviews_monthly', 'events_monthly', 'users_monthly'],
  ...['pairs_monthly', 'pair_users_monthly', 'numbers_monthly', 'paired_projects'],
  ...['rollup_builds', 'rollup_progress', 'migrations', 'inbox_cursor'],
  ...['project_changes', 'departures'],
]

/** How many rows wait in the inbox, and since when, is no secret. */
const INBOX_COLUMNS = 'batch, row, received_at, _block_number'

/** What a query across several ClickHouses needs: the table functions `cluster` and `view`. */
export const CLUSTER_GRANTS = ['READ ON REMOTE', 'CREATE TEMPORARY TABLE ON *.*']

/**
 * Builds the rights of each account, as GRANT statements without the word and the name.
 *
 * @param asksOthers whether queries read other engines
 */
export const buildGrants = (
  database: string,
  asksOthers = false,
): Readonly<Record<Account, readonly string[]>> => ({
  admin: ['ALL ON *.* WITH GRANT OPTION'],
  writer: [
    `SELECT, INSERT, TRUNCATE, OPTIMIZE ON ${database}.*`,
    `CREATE TABLE, CREATE VIEW, ALTER TABLE, ALTER VIEW, DROP TABLE, DROP VIEW ON ${database}.*`,
    // The engine treats the table function input() as a temporary table.
    'CREATE TEMPORARY TABLE ON *.*',
    ...TABLE_ENGINES.map((engine) => `TABLE ENGINE ON ${engine}`),
  ],
  reader: [
    ...READER_TABLES.map((table) => `SELECT ON ${database}.${table}`),
    `SELECT(${INBOX_COLUMNS}) ON ${database}.inbox`,
    ...(asksOthers ? CLUSTER_GRANTS : []),
  ],
})

/**
 * Settings of all accounts. A query is logged once, at its end. The other two settings have a server's defaults, which
 * `clickhouse local` changes for use as a shell.
 */
const DEFAULT_SETTINGS = `
      <log_queries_min_type>QUERY_FINISH</log_queries_min_type>
      <implicit_select>0</implicit_select>
      <allow_introspection_functions>0</allow_introspection_functions>
      <!-- With long values the client sends a form, and the statement is one of its fields. Statements across shards may have 16 MiB. -->
      <http_max_field_value_size>16777216</http_max_field_value_size>`

const buildProfiles = ({ serverMemory, queryMemory }: Limits): string => `
    <default>${DEFAULT_SETTINGS}
    </default>
    <boot><max_sessions_for_user>1</max_sessions_for_user></boot>
    <admin/>
    <writer>
      <!-- Leaves memory to queries while a load or a rebuild runs. -->
      <max_memory_usage_for_user>${Math.floor(serverMemory * 0.8)}</max_memory_usage_for_user>
    </writer>
    <reader>
      <readonly>2</readonly>
      <max_execution_time>30</max_execution_time>
      <timeout_overflow_mode>throw</timeout_overflow_mode>
      <max_memory_usage>${queryMemory}</max_memory_usage>
      <max_memory_usage_for_user>${Math.floor(serverMemory * 0.75)}</max_memory_usage_for_user>
      <max_result_rows>1000000</max_result_rows>
      <result_overflow_mode>throw</result_overflow_mode>
      <max_concurrent_queries_for_user>80</max_concurrent_queries_for_user>
      <cancel_http_readonly_queries_on_client_close>1</cancel_http_readonly_queries_on_client_close>
      <constraints>
        <max_execution_time><min>0.001</min><max>60</max></max_execution_time>
        <timeout_overflow_mode><readonly/></timeout_overflow_mode>
        <max_memory_usage><min>1</min><max>${queryMemory}</max></max_memory_usage>
        <max_untracked_memory><readonly/></max_untracked_memory>
        <max_memory_usage_for_user><readonly/></max_memory_usage_for_user>
        <max_result_rows><min>1</min><max>1000000</max></max_result_rows>
        <result_overflow_mode><readonly/></result_overflow_mode>
        <max_concurrent_queries_for_user><readonly/></max_concurrent_queries_for_user>
        <log_queries_min_type><readonly/></log_queries_min_type>
      </constraints>
    </reader>`

/** Returns the text of users.xml, which holds only hashes of the passwords. */
export function buildUsersXml(
  { accounts, database }: Endpoint,
  limits: Limits,
  asksOthers = false,
): string {
  const grants = buildGrants(database, asksOthers)
  const buildUser = (account: Account): string => {
    const { username, password } = accounts[account]
    return `
    <${username}>
      <password_sha256_hex>${sha256(password)}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>${account}</profile>
      <quota>default</quota>
      ${buildGrantsXml(grants[account])}
    </${username}>`
  }
  return `<clickhouse>
  <profiles>${buildProfiles(limits)}
  </profiles>
  <quotas><default/></quotas>
  <users>
    <!-- The engine's own session logs in as default, without a password, and lasts as long as the
         engine. The account may have one session, so nobody else can log in as default. -->
    <default>
      <no_password/>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>boot</profile>
      <quota>default</quota>
      ${buildGrantsXml(['SYSTEM LISTEN ON *.*'])}
    </default>${buildUser('admin')}${buildUser('writer')}${buildUser('reader')}
  </users>
</clickhouse>
`
}

function buildGrantsXml(grants: readonly string[]): string {
  const queries = grants.map((grant) => `\n        <query>GRANT ${grant}</query>`)
  return `<grants>${queries.join('')}\n      </grants>`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
