-- The loader looks up sessions by user and day. Those that last for most of a day are found by this index.
ALTER TABLE sessions
    ADD INDEX IF NOT EXISTS hours dateDiff('hour', start_at, end_at) TYPE minmax GRANULARITY 1;
ALTER TABLE sessions
    MATERIALIZE INDEX hours;
