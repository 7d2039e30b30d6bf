-- The page of the last pageview of a session, and its moment. Of pageviews at the same moment, the path that sorts last counts. A
-- session without a pageview has the moment of its last event, so a moment of 0 marks what is not known yet: the states that
-- earlier versions wrote. A loader completes them before it loads: see src/ingest/loader/steps/exit-pages.ts.
ALTER TABLE sessions
    ADD COLUMN IF NOT EXISTS exit_path String,
    ADD COLUMN IF NOT EXISTS exit_at DateTime64(3, 'UTC') CODEC(T64, LZ4),
    ADD INDEX IF NOT EXISTS exit_at exit_at TYPE minmax GRANULARITY 1;

-- The exit pages of states that are being completed. ClickHouse keeps the text of a mutation, which names this table, so the table
-- stays. It is empty but for that time.
CREATE TABLE IF NOT EXISTS session_exits
(
    session   UInt64,
    load      UInt64,
    exit_path String,
    exit_at   DateTime64(3, 'UTC')
)
ENGINE = Join(ANY, LEFT, session, load);
