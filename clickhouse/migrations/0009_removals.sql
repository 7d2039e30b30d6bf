-- What was deleted: users, and whole projects. One row a step, the last counts; the last of all says no more
-- who it was, and those before it are deleted.
CREATE TABLE IF NOT EXISTS removals
(
    -- A number of the same sequence as those of the loads.
    removal    UInt64,
    -- 1 started: nothing is deleted yet, or a part of a project; 2 staged: being deleted; 3 removed: to be
    -- cleared up after; 4 ended.
    step       UInt8,
    project_id String,
    -- The number of the user; 0: it is the whole project.
    user       UInt32,
    -- Of a whole project its public token: a later project has another, also under the same id.
    token      String,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(step)
ORDER BY removal
SETTINGS non_replicated_deduplication_window = 1000;
