-- Rollups: what the facts come to by day and by month, for each value of a dimension. Views fill them as
-- the loader writes; the views are made by src/rollups/views.ts from the table of dimensions.

-- What becomes of events: an event that comes is a row with sign 1; one whose session changes is a row with
-- sign -1 as it was, and one with sign 1 as it is. Views read it, and nothing is kept.
CREATE TABLE IF NOT EXISTS event_changes
(
    project_id    LowCardinality(String),
    timestamp     DateTime64(3, 'UTC'),
    user          UInt32,
    session       UInt64,
    sign          Int8,
    name          LowCardinality(String),
    origin        LowCardinality(String),
    path          String,
    properties    Map(LowCardinality(String), String),
    country       LowCardinality(String),
    city          LowCardinality(String),
    browser       LowCardinality(String),
    device_type   LowCardinality(String),
    os            LowCardinality(String),
    referrer      LowCardinality(String),
    referrer_type LowCardinality(String),
    utm_source    LowCardinality(String),
    utm_medium    LowCardinality(String),
    utm_campaign  LowCardinality(String),
    utm_content   LowCardinality(String),
    utm_term      LowCardinality(String)
)
ENGINE = Null;

-- The same by day and group, on its way to all rollups: views read it, and nothing is kept.
CREATE TABLE IF NOT EXISTS rollup_changes
(
    family     LowCardinality(String),
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String,
    day        Date,
    users      AggregateFunction(groupBitmap, UInt32),
    pageviews  Int64,
    events     Int64,
    visits     Int64,
    bounces    Int64,
    duration   Int64
)
ENGINE = Null;

-- Rollups by session attribute, and in total (dimension `total`).
CREATE TABLE IF NOT EXISTS sessions_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1)),
    visits     Int64 CODEC(T64, ZSTD(1)),
    bounces    Int64 CODEC(T64, ZSTD(1)),
    -- Milliseconds.
    duration   Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, day, value)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS sessions_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
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
ORDER BY (project_id, dimension, month, value)
SETTINGS non_replicated_deduplication_window = 10000;

-- Rollups by page: events that happened on it, and visits that entered on it.
CREATE TABLE IF NOT EXISTS pageviews_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1)),
    visits     Int64 CODEC(T64, ZSTD(1)),
    bounces    Int64 CODEC(T64, ZSTD(1)),
    -- Milliseconds.
    duration   Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, day, value)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS pageviews_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
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
ORDER BY (project_id, dimension, month, value)
SETTINGS non_replicated_deduplication_window = 10000;

-- Rollups by event name, and by the value of each property (dimension `event:prop:<name>`).
CREATE TABLE IF NOT EXISTS events_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, day, value)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS events_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, month, value)
SETTINGS non_replicated_deduplication_window = 10000;

-- The users of all those groups, as sets of their numbers. A set that must lose users is written again as the
-- next generation, and only then are its older rows deleted: united they are never too few.
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
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 128;

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
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 128;

-- Under which definition of the views the rollups hold all there is: the last row counts.
CREATE TABLE IF NOT EXISTS rollup_builds
(
    definition String,
    built_at   DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY built_at;
