-- The public keys with which services verify API keys: one row a version, the highest counts.
CREATE TABLE IF NOT EXISTS public_keys
(
    -- The SHA-256 thumbprint of the key (RFC 7638).
    kid        String,
    -- The key itself: the member x of its JWK (RFC 8037).
    x          String,
    added_at   DateTime64(3, 'UTC'),
    -- From then on the API keys that it signed are refused; null for a key that is not retired.
    retires_at Nullable(DateTime64(3, 'UTC')),
    version    UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY kid;

-- The kid of the signing key; empty for API keys that were issued before this column existed.
ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS kid String;
