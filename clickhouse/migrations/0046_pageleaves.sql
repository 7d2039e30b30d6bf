-- Pageleaves: what the end of a pageview measured. They are among the `events` of a session, but a visit with one pageview and nothing
-- else but pageleaves is a bounce. Sessions that were stored before count none.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS pageleaves UInt32 CODEC(T64, LZ4) AFTER events;
ALTER TABLE loading_sessions ADD COLUMN IF NOT EXISTS pageleaves UInt32;
ALTER TABLE loading_past ADD COLUMN IF NOT EXISTS pageleaves UInt32;
