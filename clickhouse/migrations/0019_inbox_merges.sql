-- The inbox is merged while its rows cannot be loaded, as during a rebuild. The former settings asked for merges of 100
-- parts or more, and ClickHouse merges at most 100: there was no merge at all, until too many parts made inserts fail.
ALTER TABLE inbox MODIFY SETTING
    min_parts_to_merge_at_once = 100, max_parts_to_merge_at_once = 300,
    merge_selector_enable_heuristic_to_lower_max_parts_to_merge_at_once = 0,
    -- A merged part replaces parts that are on disk, and those are deleted after 10 seconds.
    min_rows_to_fsync_after_merge = 1;
