/**
 * The settings on which the meaning of statements depends. They are sent with each statement, because the profile of an
 * account on a shared server may set others. The values are the defaults of ClickHouse, except where a comment says so.
 */
import type { ClickHouseSettings } from '@clickhouse/client'

/** NULLs, and the values of missing rows. */
const NULLS: ClickHouseSettings = {
  join_use_nulls: 0,
  transform_null_in: 0,
  aggregate_functions_null_for_empty: 0,
  empty_result_for_aggregation_by_empty_set: 0,
  group_by_use_nulls: 0,
  cast_keep_nullable: 0,
  data_type_default_nullable: 0,
  insert_null_as_default: 1,
}

/** Which rows and columns a query means. */
const QUERIES: ClickHouseSettings = {
  join_default_strictness: 'ALL',
  any_join_distinct_right_table_keys: 0,
  prefer_column_name_to_alias: 0,
  enable_positional_arguments: 1,
  count_distinct_implementation: 'uniqExact',
  union_default_mode: '',
  extremes: 0,
  final: 0,
  asterisk_include_materialized_columns: 0,
  asterisk_include_alias_columns: 0,
  limit: '0',
  offset: '0',
  use_query_cache: 0,
  apply_deleted_mask: 1,
  // The default is the time zone of the server.
  session_timezone: 'UTC',
  date_time_output_format: 'simple',
}

/** A limit that is exceeded is an error. With `break` or `any` the numbers of a response would be too small. */
const LIMITS: ClickHouseSettings = {
  read_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
}

/** An insert or DELETE is complete when it returns, and a repeated insert with the same token changes nothing. */
const WRITES: ClickHouseSettings = {
  insert_deduplicate: 1,
  wait_for_async_insert: 1,
  materialized_views_ignore_errors: 0,
  mutations_sync: '1',
  lightweight_deletes_sync: '2',
}

export const SEMANTIC_SETTINGS: ClickHouseSettings = { ...NULLS, ...QUERIES, ...LIMITS, ...WRITES }
