-- Like cluster.sql, for a project that was widened: here from one shard to two, whose first day with both is 2 March 2026.
-- A project that was widened again has one more condition for each, the oldest first. The last number is the number of shards.
-- The table has the time of arrival, too, so that it is the same where the event is loaded.
CREATE TABLE tallyhouse.shop_inbox
(
    project String,
    line String,
    received_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = Distributed(
    'tallyhouse_shop', 'tallyhouse', 'inbox',
    arrayMap(
        (event, at) -> CRC32(if(
            tupleElement(event, 'user_id') != '',
            tupleElement(event, 'user_id'),
            concat(tupleElement(event, 'ip'), ' ', substringUTF8(tupleElement(event, 'user_agent'), 1, 1024))
        )) % multiIf(
            -- Users with an id of their own go by the number of shards, and others by that of the event's day.
            tupleElement(event, 'user_id') != '' AND NOT match(tupleElement(event, 'user_id'), '^anonymous-[0-9a-f]{32}$'), 2,
            at < toDateTime64('2026-03-02 00:00:00', 3, 'UTC'), 1,
            2
        ),
        [JSONExtract(line, 'Tuple(user_id String, ip String, user_agent String)')],
        [if(
            JSONExtract(line, 'timestamp', 'String') = '',
            received_at,
            parseDateTime64BestEffortOrNull(JSONExtract(line, 'timestamp', 'String'), 3, 'UTC')
        )]
    )[1]
);
