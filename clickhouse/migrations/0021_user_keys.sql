-- A load looks the users of its events up by a hash of their ids, in fine granules, and numbers new ones after the last
-- number of their project. The texts of the ids stay in `users`. The first load of a project fills both tables from there.

CREATE TABLE IF NOT EXISTS user_keys
(
    project_id LowCardinality(String),
    -- A 128-bit hash of the user id: two ids with the same hash are one user.
    user_key   UInt128 CODEC(NONE),
    user       UInt32,
    load       UInt64
)
ENGINE = MergeTree
ORDER BY (project_id, user_key)
SETTINGS
    index_granularity = 1024, min_compress_block_size = 16384, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- The highest number that a user of a project has had. A project with a row has its users in `user_keys`.
CREATE TABLE IF NOT EXISTS user_counts
(
    project_id LowCardinality(String),
    last       SimpleAggregateFunction(max, UInt32)
)
ENGINE = AggregatingMergeTree
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Loaders of earlier versions would number users without these tables. They read the deletions before anything else, and
-- stop at this column. Events wait in the inbox for a loader of this version.
ALTER TABLE removals
    RENAME COLUMN IF EXISTS token TO project_token;

ALTER TABLE loads
    -- The projects of the events of an imported batch.
    ADD COLUMN IF NOT EXISTS projects Array(String) CODEC(ZSTD(1));
