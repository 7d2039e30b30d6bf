-- Monthly counts of pairs of values of two dimensions; see src/model/pairs.ts. Queries filter by `other` most often.
CREATE TABLE IF NOT EXISTS pairs_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    other      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1)),
    visits     Int64 CODEC(T64, ZSTD(1)),
    bounces    Int64 CODEC(T64, ZSTD(1)),
    -- Milliseconds.
    duration   Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, other, month, value)
SETTINGS non_replicated_deduplication_window = 10000;

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
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 128;

-- The projects whose pairs are counted: those large enough to gain from it. The views read it, so a project without a row has no pairs.
-- A project gets one row when its pairs are begun, and another one when they are complete.
CREATE TABLE IF NOT EXISTS paired_projects
(
    project_id  String,
    -- Whether all events of the project are counted, and not only those that were loaded since the first row.
    is_complete Bool,
    at          DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
