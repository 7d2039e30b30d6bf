-- Goals and segments of projects: one row per version, the highest counts.
CREATE TABLE IF NOT EXISTS definitions
(
    project_id String,
    -- `goal` or `segment`.
    kind       LowCardinality(String),
    name       String,
    -- The filters as a query has them, as JSON.
    filters    String,
    -- The event property with the value of a conversion; empty if there is none.
    value      String,
    is_deleted Bool,
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, kind, name);
