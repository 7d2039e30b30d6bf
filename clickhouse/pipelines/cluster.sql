-- For a project that lives on several shards: a table that sends each event to the inbox of its sender's shard.
-- Create it on the server that the pipeline inserts into, and have the pipeline insert into it instead of `inbox`.
-- `tallyhouse_shop` is an entry of remote_servers, see cluster.xml: the shards of the project, in its order.
CREATE TABLE tallyhouse.shop_inbox (project String, line String)
ENGINE = Distributed(
    'tallyhouse_shop', 'tallyhouse', 'inbox',
    -- The sender: the user id or, without one, the address and the user agent. The shard is the remainder by their number.
    arrayMap(
        event -> CRC32(if(
            tupleElement(event, 'user_id') != '',
            tupleElement(event, 'user_id'),
            concat(tupleElement(event, 'ip'), ' ', substringUTF8(tupleElement(event, 'user_agent'), 1, 1024))
        )),
        [JSONExtract(line, 'Tuple(user_id String, ip String, user_agent String)')]
    )[1]
);
