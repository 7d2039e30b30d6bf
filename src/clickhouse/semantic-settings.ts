/** The settings on which the meaning of statements depends, sent with each of them. */
import type { ClickHouseSettings } from '@clickhouse/client'

export const SEMANTIC_SETTINGS: ClickHouseSettings = {}
