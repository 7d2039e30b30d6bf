-- Projects: one row a version, the highest counts.
CREATE TABLE IF NOT EXISTS projects
(
    id                   String,
    name                 String,
    domain               String,
    token                String,
    created_at           DateTime64(3, 'UTC'),
    has_public_dashboard Bool,
    excluded_ips         Array(String),
    excluded_countries   Array(String),
    -- Days of data that the project's subscription lets it ask for; null is without limit.
    retention_days       Nullable(UInt32),
    version              UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id;
