-- The time zone of projects.

-- That of queries which name none, such as Europe/Berlin; empty for UTC.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS time_zone LowCardinality(String);
