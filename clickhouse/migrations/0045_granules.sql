-- Larger granules for the users of groups. ClickHouse merges and masks rows granule by granule, so granules of 128 rows made both take
-- several times as long. The setting cannot be changed, so each table is created again with the parts that it has: as hard links, which
-- get the larger granules when they are merged. At each moment the rows are in the table, in its copy, or in both, and a set of users
-- that is there twice is the same set. So this file may be applied again from its start.

CREATE TABLE IF NOT EXISTS users_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, value, day, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS users_daily_copy
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, value, day, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

ALTER TABLE users_daily_copy ATTACH PARTITION ALL FROM users_daily;

DROP TABLE users_daily SYNC;

CREATE TABLE IF NOT EXISTS users_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, value, day, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

ALTER TABLE users_daily ATTACH PARTITION ALL FROM users_daily_copy;

DROP TABLE users_daily_copy SYNC;

CREATE TABLE IF NOT EXISTS users_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, value, month, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS users_monthly_copy
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, value, month, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

ALTER TABLE users_monthly_copy ATTACH PARTITION ALL FROM users_monthly;

DROP TABLE users_monthly SYNC;

CREATE TABLE IF NOT EXISTS users_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, value, month, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

ALTER TABLE users_monthly ATTACH PARTITION ALL FROM users_monthly_copy;

DROP TABLE users_monthly_copy SYNC;

CREATE TABLE IF NOT EXISTS pair_users_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    other      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, other, value, month, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS pair_users_monthly_copy
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    other      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, other, value, month, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

ALTER TABLE pair_users_monthly_copy ATTACH PARTITION ALL FROM pair_users_monthly;

DROP TABLE pair_users_monthly SYNC;

CREATE TABLE IF NOT EXISTS pair_users_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    other      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, other, value, month, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

ALTER TABLE pair_users_monthly ATTACH PARTITION ALL FROM pair_users_monthly_copy;

DROP TABLE pair_users_monthly_copy SYNC;
