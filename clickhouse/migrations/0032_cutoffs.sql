-- The first day that each project keeps, as an expiration last decided it; the row written last counts. Its next move is limited
-- by it: a clock that is wrong must not delete what is to be kept.
CREATE TABLE IF NOT EXISTS cutoffs
(
    project_id  String,
    kept_from   Date32,
    -- Of the project, at that time.
    keep_days   UInt32,
    -- By the earlier of the clocks of the store and of the host that decided it.
    recorded_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY project_id;
