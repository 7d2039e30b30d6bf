-- Management over HTTP: organizations, admin keys, what they did, and what takes long.

-- The organization of a project, a label; empty for none.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS org String;

-- Admin keys, without their secrets: one row per version, the highest counts.
CREATE TABLE IF NOT EXISTS admin_keys
(
    id         String,
    name       String,
    -- The SHA-256 of the key, in hex.
    hash       String,
    -- What the key may do.
    scopes     Array(LowCardinality(String)),
    -- The organization that it acts for; empty for all projects.
    org        String,
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id;

-- When admin keys were last used, to the minute: one row per key and minute, the latest counts.
CREATE TABLE IF NOT EXISTS admin_key_uses
(
    id      String,
    used_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(used_at)
ORDER BY id;

-- Who changed what. Rows have no secrets, and are never changed.
CREATE TABLE IF NOT EXISTS audit_log
(
    id         String,
    -- By the clock of the store, which orders the entries of all processes.
    at         DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'),
    -- The id of an admin key, or `command line`.
    actor      String,
    action     LowCardinality(String),
    project_id String,
    -- The organization of the project at that time; empty for none.
    org        String,
    -- The id of what was changed in the project, such as a key; empty for the project itself.
    target     String,
    -- What was changed, before and after, as JSON objects; empty for what was created or deleted.
    before     String,
    after      String
)
ENGINE = MergeTree
ORDER BY (at, id);

-- What takes longer than a request: one row per version, the highest counts.
CREATE TABLE IF NOT EXISTS operations
(
    id         String,
    kind       LowCardinality(String),
    project_id String,
    -- The organization of the project when it began; empty for none.
    org        String,
    -- What is asked for, as JSON; empty once it has ended, because it may name users.
    request    String,
    state      LowCardinality(String),
    -- As JSON; empty until it is done.
    result     String,
    -- Why it failed; empty otherwise.
    error      String,
    created_at DateTime64(3, 'UTC'),
    ended_at   Nullable(DateTime64(3, 'UTC')),
    version    UInt64,
    -- By the clock of the store.
    stored_at  DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id
TTL stored_at + INTERVAL 90 DAY;

-- Requests with an Idempotency-Key, for 24 hours: the claim of each, then the response of the first.
CREATE TABLE IF NOT EXISTS idempotency_keys
(
    -- The SHA-256 of the admin key's id and the Idempotency-Key, in hex.
    id          String,
    -- Random, of each request.
    claim       String,
    -- The SHA-256 of the request, in hex.
    fingerprint String,
    -- The response, encrypted with a key that follows from the admin key: it may have an API key. Empty for a claim.
    response    String,
    -- By the clock of the store, so that of two requests the one that came first is the first everywhere.
    at          DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
)
ENGINE = MergeTree
ORDER BY (id, at)
TTL toDateTime(at) + INTERVAL 24 HOUR;

-- Notes of projects: one row per version, the highest counts.
CREATE TABLE IF NOT EXISTS notes
(
    project_id String,
    id         String,
    at         DateTime64(3, 'UTC'),
    -- The end of a period; null for a moment.
    until      Nullable(DateTime64(3, 'UTC')),
    text       String,
    created_at DateTime64(3, 'UTC'),
    is_deleted Bool,
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, id);
