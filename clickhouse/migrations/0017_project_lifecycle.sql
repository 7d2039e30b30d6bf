ALTER TABLE projects
    -- The public token before the last rotation, and until when events are accepted with it.
    ADD COLUMN IF NOT EXISTS former_token String,
    ADD COLUMN IF NOT EXISTS former_token_until Nullable(DateTime64(3, 'UTC')),
    -- Days of data that are kept before the current one; null keeps all.
    ADD COLUMN IF NOT EXISTS keep_days Nullable(UInt32),
    -- Whether it is being deleted: from then on its API keys and public tokens are refused.
    ADD COLUMN IF NOT EXISTS is_deleting Bool;

-- The journal of expirations, which delete a project's data before a day: one row a step, the last counts. The table is
-- not `removals`, whose rows without a user mean a whole project to earlier versions.
CREATE TABLE IF NOT EXISTS expirations
(
    -- A number of the same sequence as those of loads and removals.
    expiration UInt64,
    -- 1 started: nothing is deleted yet; 2 staged: being deleted; 4 ended.
    step       UInt8,
    project_id String,
    -- The first day that is kept.
    kept_from  Date,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(step)
ORDER BY expiration
SETTINGS non_replicated_deduplication_window = 1000;
