-- Rows leave the inbox once their load is recorded as finished. After a power failure everything that was written until
-- then must be there, except rollups, which can be computed again from the facts.
ALTER TABLE users MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE salts MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE event_ids MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE events MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE sessions MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE exclusions MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE rejections MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE loads MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE inbox_cursor MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE removals MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
