-- Users are numbered within their project, nearly in order of first appearance: a set of users is
-- then a compact set of small numbers.
CREATE TABLE IF NOT EXISTS users
(
    project_id LowCardinality(String),
    user_id    String,
    user       UInt32,
    load       UInt64
)
ENGINE = MergeTree
ORDER BY (project_id, user_id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The salt of each day's derived users. Once it is gone nobody can find out who they were.
CREATE TABLE IF NOT EXISTS salts
(
    day  Date,
    salt String,
    created_at DateTime DEFAULT now('UTC')
)
ENGINE = MergeTree
ORDER BY day
TTL created_at + INTERVAL 2 DAY
SETTINGS merge_with_ttl_timeout = 3600;
