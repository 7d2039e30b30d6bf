-- What becomes of the events of each project: what usage is billed by.

-- The table of excluded events now counts all events that loads take, by project, day and reason. It keeps its columns:
-- - `day`: when the event was accepted (UTC); of excluded events that version 0.1.0 has counted, when it happened;
-- - `reason`: why the row of the inbox did not become an event: `bot`, `ip`, `country`, `repeated`, why it was rejected, or
--   `forwarded` if it is counted on another shard; empty if it became one. Rows that are forwarded, or whose project does not
--   exist, have no project.
RENAME TABLE IF EXISTS exclusions TO usage;

-- The last load that counted here. A load that is resumed sees by it whether it has counted its rows.
ALTER TABLE usage ADD COLUMN IF NOT EXISTS load SimpleAggregateFunction(max, UInt64);

-- The project of a rejected row; empty if there is no such project.
ALTER TABLE rejections ADD COLUMN IF NOT EXISTS project_id LowCardinality(String);

-- The queries of each project and day (UTC), at the home of a cluster. Services add what they have answered every few seconds.
CREATE TABLE IF NOT EXISTS query_usage
(
    project_id LowCardinality(String),
    day        Date,
    queries    UInt64
)
ENGINE = SummingMergeTree
ORDER BY (project_id, day)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;
