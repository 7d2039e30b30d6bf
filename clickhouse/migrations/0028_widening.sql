-- A widening has several sources and targets, a move one of each.
ALTER TABLE moves
    -- The shards that the project lives on afterwards, in order; empty in rows of earlier versions, which only moved.
    ADD COLUMN IF NOT EXISTS shards Array(String),
    -- What each target gets from which source, with the other columns that name one of each.
    ADD COLUMN IF NOT EXISTS legs Array(Tuple(source String, target String, base UInt64, last UInt64));

-- The users who have left a shard of a project that is being widened, and whose rows it still has: queries leave them out.
CREATE TABLE IF NOT EXISTS departures
(
    project_id String,
    users      AggregateFunction(groupBitmap, UInt32)
)
ENGINE = MergeTree
ORDER BY project_id
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;
