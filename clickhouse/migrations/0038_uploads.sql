-- Imports over HTTP.

-- Files, in pieces: what was uploaded, and what an import rejected.
CREATE TABLE IF NOT EXISTS uploads
(
    -- The id of the file, which is random: a file is written once, by one process.
    id         String,
    -- `upload` or `rejected`.
    kind       LowCardinality(String),
    project_id String,
    -- The position of the piece in the file, counted from 0.
    number     UInt32,
    bytes      String CODEC(ZSTD(1)),
    -- By the clock of the store.
    stored_at  DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
-- The space of an upload is free once its partition is dropped.
PARTITION BY if(kind = 'upload', id, '')
ORDER BY (id, number)
TTL stored_at + INTERVAL 7 DAY
-- A piece has about a mebibyte.
SETTINGS index_granularity = 1, merge_max_block_size = 16;

-- How far an operation is, as JSON; empty before it runs.
ALTER TABLE operations ADD COLUMN IF NOT EXISTS progress String;
