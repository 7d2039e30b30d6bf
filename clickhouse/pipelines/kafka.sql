-- Reads events from a Kafka topic. Each message is an event: a JSON object that names its project.
CREATE TABLE tallyhouse.kafka_events (line String)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka:9092',
    kafka_topic_list = 'events',
    kafka_group_name = 'tallyhouse',
    kafka_format = 'LineAsString',
    kafka_max_block_size = 65536,
    kafka_flush_interval_ms = 1000;

CREATE MATERIALIZED VIEW tallyhouse.kafka_to_inbox TO tallyhouse.inbox AS
SELECT line FROM tallyhouse.kafka_events;
