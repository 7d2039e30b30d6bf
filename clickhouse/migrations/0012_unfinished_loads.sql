-- Only finished loads expire: an unfinished one is finished later, however long that takes.
ALTER TABLE loads
    MODIFY TTL toDateTime(at) + INTERVAL 1 DAY DELETE WHERE startsWith(batch, 'stream-') AND step = 3;
