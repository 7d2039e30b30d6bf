-- Usage of deleted projects: invoices of the month of the deletion need it.

-- What a deleted project used, on each store that had it: its rows of `usage` and `query_usage`, copied before they are deleted.
CREATE TABLE IF NOT EXISTS deleted_usage
(
    project_id String,
    -- The organization of the project when it was deleted; empty for none.
    org        String,
    -- The public token of the project: a later project with the same id has another one.
    token      String,
    day        Date,
    -- As in `usage`, or `queries`.
    reason     LowCardinality(String),
    events     UInt64,
    deleted_at DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
ORDER BY (project_id, day, reason)
TTL deleted_at + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
