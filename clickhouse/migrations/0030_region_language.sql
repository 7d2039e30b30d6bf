-- The region and the language of the user, as session attributes. Events that are stored already have none.
ALTER TABLE events
    ADD COLUMN IF NOT EXISTS region LowCardinality(String),
    ADD COLUMN IF NOT EXISTS language LowCardinality(String);
ALTER TABLE sessions
    ADD COLUMN IF NOT EXISTS region LowCardinality(String),
    ADD COLUMN IF NOT EXISTS language LowCardinality(String);
