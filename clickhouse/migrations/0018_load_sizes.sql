-- A load is limited by rows and bytes, so it may end within a block of the stream.

ALTER TABLE inbox
    -- The length of the line, which the loader adds up without reading lines.
    ADD COLUMN IF NOT EXISTS bytes UInt64 MATERIALIZED length(line);

ALTER TABLE inbox_cursor
    -- How many rows of the block after `block` are loaded, too.
    ADD COLUMN IF NOT EXISTS rows UInt64;

ALTER TABLE loads
    -- In how many parts the events, sessions and changes of a staged load are published.
    ADD COLUMN IF NOT EXISTS slices UInt32 DEFAULT 1;

-- An abandoned load (step 4) expires like a finished one.
ALTER TABLE loads
    MODIFY TTL toDateTime(at) + INTERVAL 1 DAY DELETE WHERE startsWith(batch, 'stream-') AND step >= 3;
