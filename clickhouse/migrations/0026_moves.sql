-- The journal of moves, at the home of a cluster: which project is being moved to which shard, and how far. One row a step,
-- the last counts.
CREATE TABLE IF NOT EXISTS moves
(
    move       UInt64,
    -- 1 started: the facts are copied; 2 switched: the project lives on its new shard; 3 ended, or aborted.
    step       UInt8,
    project_id String,
    -- The shards that it leaves, and goes to.
    source     String,
    target     String,
    -- What is added to the numbers of loads that the rows have at the source.
    base       UInt64,
    -- The last number that is reserved for them at the target.
    last       UInt64,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(step)
ORDER BY move
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Rows of the stream for projects that live on another shard by now, as received. A load takes them out of the inbox; they
-- are dropped once they are in the inbox of that shard.
CREATE TABLE IF NOT EXISTS forwards
(
    load        UInt64,
    seq         UInt64,
    project     LowCardinality(String),
    line        String CODEC(ZSTD(1)),
    received_at DateTime64(3, 'UTC'),
    age_checked Bool
)
ENGINE = MergeTree
PARTITION BY load
ORDER BY seq
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;
