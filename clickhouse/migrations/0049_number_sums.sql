-- Monthly sums of the numbers in properties, by the values of a dimension; see src/model/number-sums.ts.
CREATE TABLE IF NOT EXISTS numbers_monthly
(
    project_id LowCardinality(String),
    -- The property and the dimension.
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    -- The currency of the events that have a number.
    other      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    -- How many events have a number, and how many have something else.
    counted    Int64 CODEC(T64, ZSTD(1)),
    others     Int64 CODEC(T64, ZSTD(1)),
    sum        Decimal(38, 9) CODEC(ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, month, value, other)
SETTINGS non_replicated_deduplication_window = 10000;
