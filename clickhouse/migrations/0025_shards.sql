-- The shards that a project lives on, in order; empty for the store that holds this table alone.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS shards Array(String);
