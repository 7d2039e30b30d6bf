/** Writes the files that the engine reads when it starts: config.xml, users.xml and system.sql. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Endpoint } from '../endpoint.js'
import type { Limits } from './limits.js'
import { buildRemoteServersXml, type EngineGroup } from './member.js'
import { buildUsersXml } from './users.js'

/**
 * Returns the text of config.xml.
 *
 * @param groups the groups of engines that answer queries together, for an engine that has others beside it
 */
export function buildConfigXml(
  engineDir: string,
  { serverMemory }: Limits,
  groups: readonly EngineGroup[] = [],
): string {
  const file = (name: string): string => escapeXml(path.join(engineDir, name))
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
    <!-- What needs the log sooner flushes it. Each flush writes a part, which is merged with others later. -->
    <flush_interval_milliseconds>60000</flush_interval_milliseconds>
  </query_log>

  <!-- tallyhouse backup names the folder. No account but admin may back up. -->
  <backups>
    <allowed_path>/</allowed_path>
  </backups>

  <access_control_improvements>
    <table_engines_require_grant>true</table_engines_require_grant>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
  </access_control_improvements>

  <max_server_memory_usage>${serverMemory}</max_server_memory_usage>
  <!-- How often the engine compares its memory with what it has counted. By default 20 times a second. -->
  <memory_worker_period_ms>250</memory_worker_period_ms>
  <mark_cache_size>${Math.floor(serverMemory / 10)}</mark_cache_size>
  <max_concurrent_queries>100</max_concurrent_queries>
  <keep_alive_timeout>10</keep_alive_timeout>
  <background_pool_size>2</background_pool_size>
  <!-- How many parts may wait per thread. A DELETE that touches more parts would delay the rest by a second. -->
  <background_merges_mutations_concurrency_ratio>16</background_merges_mutations_concurrency_ratio>
  <background_schedule_pool_size>8</background_schedule_pool_size>${groups.length === 0 ? '' : buildRemoteServersXml(groups)}
</clickhouse>
`
}

/** Writes the configuration of an engine into its folder, readable only by this system user. */
export async function writeConfiguration(
  engineDir: string,
  endpoint: Endpoint,
  limits: Limits,
  groups: readonly EngineGroup[] = [],
): Promise<void> {
  const metadata = path.join(engineDir, 'data', 'metadata')
  await mkdir(metadata, { recursive: true, mode: 0o700 })
  await chmod(engineDir, 0o700)
  await writePrivate(path.join(engineDir, 'config.xml'), buildConfigXml(engineDir, limits, groups))
  const users = buildUsersXml(endpoint, limits, groups.length > 0)
  await writePrivate(path.join(engineDir, 'users.xml'), users)
  // Otherwise `system` would be a database in memory, and query_log would break at the second start.
  const system = path.join(metadata, 'system.sql')
  if (!existsSync(system)) {
    await writePrivate(system, `ATTACH DATABASE _ UUID '${randomUUID()}'\nENGINE = Atomic\n`)
  }
}

async function writePrivate(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
  await chmod(file, 0o600)
}

function escapeXml(text: string): string {
  return text.replace(/[<>&]/g, (character) => `&#${character.charCodeAt(0)};`)
}
