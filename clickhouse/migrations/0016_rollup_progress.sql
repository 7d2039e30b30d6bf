-- How far the rollups are built: one row a step. A build that was interrupted goes on after the last month, and an older
-- version sees that a newer one has begun.
CREATE TABLE IF NOT EXISTS rollup_progress
(
    -- The version of the definition; a newer definition has a higher one.
    version    UInt32,
    -- The hash of the definition.
    definition String,
    -- 1 begun: the views are about to change; 2 the views were created; 3 a month was rebuilt.
    step       UInt8,
    -- A hash that tells these views from any that are created later.
    views      String,
    -- The month of step 3, e.g. 202601.
    month      UInt32,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY at;
