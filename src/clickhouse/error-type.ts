/** Tells ClickHouse's errors apart by their type. */
import { ClickHouseError } from '@clickhouse/client'

/** Whether it is an error of ClickHouse of that type, e.g. `UNKNOWN_TABLE`. */
export const hasType = (error: unknown, type: string): boolean =>
  error instanceof ClickHouseError && error.type === type
