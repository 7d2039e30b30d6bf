-- The groups of users that the last change has written again: the rows of an earlier generation are about to be deleted, and no query
-- counts them any more. Empty, and zero, once they are deleted.
ALTER TABLE project_changes ADD COLUMN IF NOT EXISTS replaced_groups Array(UInt128);
ALTER TABLE project_changes ADD COLUMN IF NOT EXISTS replaced_before UInt64;
