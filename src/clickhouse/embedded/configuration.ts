/** Writes the files the engine reads at its start: config.xml, users.xml and system.sql. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Endpoint } from '../endpoint.js'
import type { Limits } from './limits.js'
import { usersXml } from './users.js'

/** The text of config.xml for an engine in the folder `home`. */
export function configXml(home: string, { serverMemory }: Limits): string {
  const file = (name: string): string => escape(path.join(home, name))
  return `<clickhouse>
  <users_config>${file('users.xml')}</users_config>
  <tmp_path>${file('tmp')}/</tmp_path>
  <timezone>UTC</timezone>

  <log-level>error</log-level>
  <logger>
    <console>0</console>
    <log>${file('clickhouse.log')}</log>
    <size>10M</size>
    <count>3</count>
  </logger>
  <query_log>
    <database>system</database>
    <table>query_log</table>
    <partition_by>event_date</partition_by>
    <ttl>event_date + INTERVAL 7 DAY</ttl>
    <flush_interval_milliseconds>7500</flush_interval_milliseconds>
  </query_log>

  <access_control_improvements>
    <table_engines_require_grant>true</table_engines_require_grant>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
  </access_control_improvements>

  <max_server_memory_usage>${serverMemory}</max_server_memory_usage>
  <mark_cache_size>${Math.floor(serverMemory / 10)}</mark_cache_size>
  <max_concurrent_queries>100</max_concurrent_queries>
  <keep_alive_timeout>10</keep_alive_timeout>
  <background_pool_size>2</background_pool_size>
  <!-- How many parts may wait for each thread: of a DELETE on more of them the rest would be put off by a second. -->
  <background_merges_mutations_concurrency_ratio>16</background_merges_mutations_concurrency_ratio>
  <background_schedule_pool_size>8</background_schedule_pool_size>
</clickhouse>
`
}

/** Writes the configuration of an engine into its folder, readable by this user of the system only. */
export async function writeConfiguration(
  home: string,
  endpoint: Endpoint,
  limits: Limits,
): Promise<void> {
  const metadata = path.join(home, 'data', 'metadata')
  await mkdir(metadata, { recursive: true, mode: 0o700 })
  await chmod(home, 0o700)
  await write(path.join(home, 'config.xml'), configXml(home, limits))
  await write(path.join(home, 'users.xml'), usersXml(endpoint, limits))
  // Else `system` would be a database in memory, and query_log would break at the second start.
  const system = path.join(metadata, 'system.sql')
  if (!existsSync(system)) {
    await write(system, `ATTACH DATABASE _ UUID '${randomUUID()}'\nENGINE = Atomic\n`)
  }
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
  await chmod(file, 0o600)
}

function escape(text: string): string {
  return text.replace(/[<>&]/g, (character) => `&#${character.charCodeAt(0)};`)
}
