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

-- The salt of each day's derived users.
CREATE TABLE IF NOT EXISTS salts
(
    day  Date,
    salt String
)
ENGINE = MergeTree
ORDER BY day;
