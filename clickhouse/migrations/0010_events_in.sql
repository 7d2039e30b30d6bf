-- Events that come one by one, what is not tracked, and what libraries say of agents and referrers.

-- Rows of the batch '' are a stream: they are loaded in the order of their blocks, which are numbered as they
-- are written. Whoever is told that a row is in must find it there after a power failure as well.
ALTER TABLE inbox
    -- Why the row was found unfit before it came here; empty for all others.
    ADD COLUMN IF NOT EXISTS fault String;
ALTER TABLE inbox MODIFY SETTING
    -- Two inserts that bring the same rows are two: what is meant to count once says so by its event id.
    non_replicated_deduplication_window = 0,
    enable_block_number_column = 1, enable_block_offset_column = 1,
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    -- Parts go within a second or two: to merge them pays only where the loader is away.
    min_parts_to_merge_at_once = 100, parts_to_delay_insert = 3000, parts_to_throw_insert = 10000;

-- Up to which block the stream is loaded; the row of the highest number counts.
CREATE TABLE IF NOT EXISTS inbox_cursor
(
    stream LowCardinality(String),
    block  UInt64,
    -- The load that came so far.
    load   UInt64
)
ENGINE = ReplacingMergeTree(load)
ORDER BY stream
SETTINGS non_replicated_deduplication_window = 1000;

ALTER TABLE loads
    ADD COLUMN IF NOT EXISTS bots UInt64,
    ADD COLUMN IF NOT EXISTS first_at Nullable(DateTime64(3, 'UTC')),
    ADD COLUMN IF NOT EXISTS last_at Nullable(DateTime64(3, 'UTC')),
    -- The rows of a file that were not loaded: they are tried again when the file is imported again.
    ADD COLUMN IF NOT EXISTS rows_left Array(UInt64) CODEC(ZSTD(1));
ALTER TABLE loads MODIFY TTL toDateTime(at) + INTERVAL 1 DAY DELETE WHERE startsWith(batch, 'stream-');

-- Events that are not tracked, counted by day and reason: `bot`, `ip` or `country`.
CREATE TABLE IF NOT EXISTS exclusions
(
    project_id LowCardinality(String),
    day        Date,
    reason     LowCardinality(String),
    events     UInt64
)
ENGINE = SummingMergeTree
ORDER BY (project_id, day, reason)
SETTINGS non_replicated_deduplication_window = 1000;

-- What user agents are, by the rules of a version. Rows are made anew when they are needed and gone.
CREATE TABLE IF NOT EXISTS agents
(
    user_agent  String,
    version     LowCardinality(String),
    browser     LowCardinality(String),
    os          LowCardinality(String),
    device_type LowCardinality(String),
    is_bot      Bool,
    made_at     DateTime DEFAULT now('UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (user_agent, version)
TTL made_at + INTERVAL 90 DAY;

-- What referrers are, by the rules of a version; the key is a host, for some hosts with a path.
CREATE TABLE IF NOT EXISTS referrers
(
    key     String,
    version LowCardinality(String),
    name    LowCardinality(String),
    kind    LowCardinality(String),
    made_at DateTime DEFAULT now('UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (key, version)
TTL made_at + INTERVAL 90 DAY;

-- Every event that is collected has an id, and each load asks for its own among all: with finer granules it reads
-- less for each that it finds its place of.
CREATE TABLE IF NOT EXISTS event_ids_finer
(
    project_id LowCardinality(String),
    -- A 128-bit hash of the id the sender gave.
    event_id   UInt128 CODEC(NONE)
)
ENGINE = MergeTree
ORDER BY (project_id, event_id)
SETTINGS
    index_granularity = 1024, min_compress_block_size = 16384, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 1000;
INSERT INTO event_ids_finer SELECT project_id, event_id FROM event_ids;
EXCHANGE TABLES event_ids_finer AND event_ids;
DROP TABLE event_ids_finer;
