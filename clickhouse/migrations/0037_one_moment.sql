-- Which state of a project's data queries may read.

-- The announcement of the last change that queries may have seen, at least in part. While it is that of an open change, the change is
-- being published.
ALTER TABLE project_changes ADD COLUMN IF NOT EXISTS published UUID;

-- What is being deleted, which no query sees any more: the numbers of users, and the first day that is kept. Zero keeps all days.
ALTER TABLE project_changes ADD COLUMN IF NOT EXISTS hidden_users Array(UInt32);
ALTER TABLE project_changes ADD COLUMN IF NOT EXISTS kept_from Date;
