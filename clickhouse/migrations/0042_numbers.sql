-- Numbers in the properties of events.

-- The properties whose text is a number of JSON, rounded to nine decimals and smaller than 10^18 in size. A load parses them once. Parts
-- that are older than this column compute it when it is read, until they are merged.
ALTER TABLE events ADD COLUMN IF NOT EXISTS numbers Map(LowCardinality(String), Decimal(38, 9)) MATERIALIZED
    mapApply(
        (name, text) -> (name, toDecimal128(round(assumeNotNull(toDecimal128OrNull(text, 18)), 9), 9)),
        mapFilter(
            (name, text) -> ifNull(abs(toDecimal128OrNull(text, 18)) < 1000000000000000000, false)
                AND match(text, '^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$'),
            properties))
    CODEC(ZSTD(1));
