-- Events: one row an event, with the attributes of its session.
CREATE TABLE IF NOT EXISTS events
(
    project_id    LowCardinality(String),
    timestamp     DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    user          UInt32,
    session       UInt64,
    -- The load that wrote this row.
    load          UInt64,
    name          LowCardinality(String),
    anonymous     Bool,
    origin        LowCardinality(String),
    path          String,
    hash          String,
    properties    Map(LowCardinality(String), String),
    country       LowCardinality(String),
    city          LowCardinality(String),
    browser       LowCardinality(String),
    device_type   LowCardinality(String),
    os            LowCardinality(String),
    referrer      LowCardinality(String),
    referrer_url  String,
    referrer_type LowCardinality(String),
    utm_source    LowCardinality(String),
    utm_medium    LowCardinality(String),
    utm_campaign  LowCardinality(String),
    utm_content   LowCardinality(String),
    utm_term      LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY (project_id, toDate(timestamp), user, timestamp)
SETTINGS non_replicated_deduplication_window = 10000;

-- The ids of all events that came with one: what comes again under the same id is dropped.
CREATE TABLE IF NOT EXISTS event_ids
(
    project_id LowCardinality(String),
    -- A 128-bit hash of the id the sender gave.
    event_id   UInt128
)
ENGINE = MergeTree
ORDER BY (project_id, event_id)
SETTINGS non_replicated_deduplication_window = 1000;
