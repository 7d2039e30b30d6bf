-- API keys, without their secrets: one row a version, the highest counts.
CREATE TABLE IF NOT EXISTS api_keys
(
    id         String,
    project_id String,
    name       String,
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id;
