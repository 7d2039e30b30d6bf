-- The inbox: events as received, each a JSON object. Whatever can INSERT here can bring events.
CREATE TABLE IF NOT EXISTS inbox
(
    -- What is loaded at once, and then dropped at once: its rows come in one insert of one block.
    batch       String,
    -- The place of the row in its source, counted from 1, for naming it in a report.
    row         UInt64,
    -- The project of a row that names none itself.
    project     LowCardinality(String),
    -- Whether nothing of the batch is to be loaded if a row of it is rejected.
    strict      Bool DEFAULT false,
    line        String CODEC(ZSTD(1)),
    received_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
PARTITION BY batch
ORDER BY row
SETTINGS non_replicated_deduplication_window = 1000;

-- Rows that could not be loaded, each with its reason.
CREATE TABLE IF NOT EXISTS rejections
(
    batch       String,
    row         UInt64,
    reason      String,
    line        String CODEC(ZSTD(1)),
    rejected_at DateTime DEFAULT now('UTC')
)
ENGINE = MergeTree
PARTITION BY batch
ORDER BY row
TTL rejected_at + INTERVAL 7 DAY
SETTINGS non_replicated_deduplication_window = 1000;
