-- Sessions, as changes: a state is a row with sign 1; when a later load changes the session, that
-- row is written again with sign -1, beside the new state. Sums over `sign` are exact at any moment.
-- A state and its reversal have one sorting key, which is no other state's: merges take both away.
CREATE TABLE IF NOT EXISTS sessions
(
    project_id    LowCardinality(String),
    session       UInt64,
    -- The load that wrote this state.
    load          UInt64,
    sign          Int8,
    user          UInt32,
    -- The id the sender gave; empty where the session was cut by the 30-minute rule.
    session_id    String,
    start_at      DateTime64(3, 'UTC'),
    end_at        DateTime64(3, 'UTC'),
    pageviews     UInt32,
    events        UInt32,
    -- The page of the first pageview, and its moment.
    entry_origin  LowCardinality(String),
    entry_path    String,
    entry_at      DateTime64(3, 'UTC'),
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
    utm_term      LowCardinality(String),
    INDEX end_at end_at TYPE minmax GRANULARITY 1,
    INDEX session_id session_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = CollapsingMergeTree(sign)
PARTITION BY toYYYYMM(start_at)
ORDER BY (project_id, toDate(start_at), user, session, load)
SETTINGS non_replicated_deduplication_window = 10000;
