-- When the data of a project changes: one row a project, the last counts. A change is announced before queries can see
-- any of it, and ended when they see all of it, so that services know which answers they may give again.
--
-- Earlier versions announce nothing, but they cannot change anything either: they do not know the columns of `removals`.
CREATE TABLE IF NOT EXISTS project_changes
(
    -- Empty: all projects.
    project_id   String,
    -- Rows that are written later have higher numbers.
    change       UInt64,
    -- Whether the change is going on.
    is_open      Bool,
    -- Which announcement the row belongs to: another one for each.
    announcement UUID,
    at           DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(change)
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
