-- What the loader did: one row a step of a load, the last counts.
CREATE TABLE IF NOT EXISTS loads
(
    load       UInt64,
    batch      String,
    -- 1 started: nothing is published yet; 2 staged: being published; 3 loaded.
    step       UInt8,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    received   UInt64,
    events     UInt64,
    duplicates UInt64,
    excluded   UInt64,
    rejected   UInt64
)
ENGINE = ReplacingMergeTree(step)
ORDER BY load
SETTINGS non_replicated_deduplication_window = 1000;
