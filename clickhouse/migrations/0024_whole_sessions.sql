-- What queries about session attributes read of sessions. The index finds the few granules with replaced states, which are
-- there until they are merged. The column is read instead of two moments. Like those of days, it is written at once.
ALTER TABLE sessions
    ADD INDEX IF NOT EXISTS signs sign TYPE minmax GRANULARITY 1,
    ADD COLUMN IF NOT EXISTS duration_ms Int64
        MATERIALIZED toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at) CODEC(T64, LZ4);
ALTER TABLE sessions
    MATERIALIZE INDEX signs,
    MATERIALIZE COLUMN duration_ms;

-- Whether a project may have events whose session is not stored: it began on a day that the project keeps no longer.
-- Queries about session attributes are then answered from events. Earlier versions do not write the column when they
-- change a project, so the default is the value that is always right.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS has_cut_sessions Bool DEFAULT true;

-- Among rows of one version, the last one counts.
INSERT INTO projects
SELECT * REPLACE (false AS has_cut_sessions)
FROM projects FINAL
WHERE has_cut_sessions AND id NOT IN
(
    SELECT project_id FROM
    (
        SELECT project_id, toInt64(count()) AS difference FROM events GROUP BY project_id
        UNION ALL
        SELECT project_id, -sum(sign * (toInt64(pageviews) + events)) FROM sessions GROUP BY project_id
    )
    GROUP BY project_id
    HAVING sum(difference) != 0
);
