-- What an API key may do. Keys that were issued before, and by earlier versions, may read.
ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS scopes Array(LowCardinality(String)) DEFAULT ['read'];
