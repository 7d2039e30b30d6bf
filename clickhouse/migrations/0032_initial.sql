-- The tables of version 0.1.0. It created them by 32 migrations, which this file replaces, and whose last number it has: a
-- database that has applied the last of them has these tables.

-- Projects and keys

-- Projects: one row per version, the highest counts.
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
    -- Days of data that the project's subscription lets it query; null is without limit.
    retention_days       Nullable(UInt32),
    version              UInt64,
    -- The public token before the last rotation, and until when events are accepted with it.
    former_token         String,
    former_token_until   Nullable(DateTime64(3, 'UTC')),
    -- Days of data that are kept before the current one; null keeps all.
    keep_days            Nullable(UInt32),
    -- Whether it is being deleted: from then on its API keys and public tokens are refused.
    is_deleting          Bool,
    -- Whether the project may have events whose session is not stored: it began on a day that the project keeps no longer.
    -- Queries about session attributes are then answered from events.
    has_cut_sessions     Bool DEFAULT true,
    -- The shards that the project lives on, in order; empty for the store that holds this table alone.
    shards               Array(String),
    -- How the project was divided before it was widened, oldest first: its events without a user id of the days before `until`
    -- lie by that width.
    former_widths        Array(Tuple(width UInt16, until Date)),
    -- Whether its former shards may still have the rows of users who left for the new ones.
    is_widening          Bool
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id;

-- API keys, without their secrets: one row per version, the highest counts.
CREATE TABLE IF NOT EXISTS api_keys
(
    id         String,
    project_id String,
    name       String,
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    version    UInt64,
    -- The signing key.
    kid        String,
    -- What the key may do.
    scopes     Array(LowCardinality(String)) DEFAULT ['read']
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id;

-- The public keys with which services verify API keys: one row per version, the highest counts.
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

-- The inbox

-- Events as received, each a JSON object. Whatever can INSERT here can bring events. Rows of the batch '' are a stream: they are
-- loaded in the order of their blocks, which are numbered as they are written. Whoever is told that a row is in must find it
-- there after a power failure as well.
CREATE TABLE IF NOT EXISTS inbox
(
    -- What is loaded at once, and then dropped at once: its rows come in one insert of one block.
    batch       String,
    -- The place of the row in its source, counted from 1, for naming it in a report.
    row         UInt64,
    -- The project of a row that names none itself.
    project     LowCardinality(String),
    -- Whether nothing of the batch is to be loaded if a row of it is rejected.
    strict      Bool DEFAULT false,
    line        String CODEC(ZSTD(1)),
    received_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    -- Why the row was found unfit before it came here; empty for all others.
    fault       String,
    -- Whether its collector has checked the age of the event. Loads check it for all other rows of the stream, with a limit
    -- that may differ between processes; an accepted event must never be rejected by it.
    age_checked Bool DEFAULT false,
    -- The length of the line, which the loader adds up without reading lines.
    bytes       UInt64 MATERIALIZED length(line)
)
ENGINE = MergeTree
PARTITION BY batch
ORDER BY row
SETTINGS
    -- Two inserts that bring the same rows are two: what is meant to count once says so by its event id.
    non_replicated_deduplication_window = 0,
    enable_block_number_column = 1, enable_block_offset_column = 1,
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    -- Parts go within a second or two, so they are merged only while their rows cannot be loaded, as during a rebuild.
    -- ClickHouse merges at most 100 parts by default, and would then not merge at all.
    min_parts_to_merge_at_once = 100, max_parts_to_merge_at_once = 300,
    merge_selector_enable_heuristic_to_lower_max_parts_to_merge_at_once = 0,
    parts_to_delay_insert = 3000, parts_to_throw_insert = 10000,
    -- A merged part replaces parts that are on disk, and those are deleted after 10 seconds.
    min_rows_to_fsync_after_merge = 1;

-- Up to which block the stream is loaded; the row of the highest number counts.
CREATE TABLE IF NOT EXISTS inbox_cursor
(
    stream LowCardinality(String),
    block  UInt64,
    -- The load that came so far.
    load   UInt64,
    -- How many rows of the block after `block` are loaded, too.
    rows   UInt64
)
ENGINE = ReplacingMergeTree(load)
ORDER BY stream
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Rows that could not be loaded, each with its reason.
CREATE TABLE IF NOT EXISTS rejections
(
    batch       String,
    row         UInt64,
    reason      String,
    line        String CODEC(ZSTD(1)),
    rejected_at DateTime DEFAULT now('UTC')
)
ENGINE = MergeTree
PARTITION BY batch
ORDER BY row
TTL rejected_at + INTERVAL 7 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Rows of the stream for projects that live on another shard by now, as received. A load takes them out of the inbox; they
-- are dropped once they are in the inbox of that shard.
CREATE TABLE IF NOT EXISTS forwards
(
    load        UInt64,
    seq         UInt64,
    project     LowCardinality(String),
    line        String CODEC(ZSTD(1)),
    received_at DateTime64(3, 'UTC'),
    age_checked Bool
)
ENGINE = MergeTree
PARTITION BY load
ORDER BY seq
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- What the loader did: one row per step of a load, the last counts. Only loads that are finished or abandoned expire: an
-- unfinished one is finished later, however long that takes.
CREATE TABLE IF NOT EXISTS loads
(
    load       UInt64,
    batch      String,
    -- 1 started: nothing is published yet; 2 staged: being published; 3 loaded; 4 abandoned.
    step       UInt8,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    received   UInt64,
    events     UInt64,
    duplicates UInt64,
    excluded   UInt64,
    rejected   UInt64,
    bots       UInt64,
    first_at   Nullable(DateTime64(3, 'UTC')),
    last_at    Nullable(DateTime64(3, 'UTC')),
    -- The rows of a file that were not loaded: they are tried again when the file is imported again.
    rows_left  Array(UInt64) CODEC(ZSTD(1)),
    -- In how many parts the events, sessions and changes of a staged load are published.
    slices     UInt32 DEFAULT 1,
    -- The projects of the events of an imported batch.
    projects   Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(step)
ORDER BY load
TTL toDateTime(at) + INTERVAL 1 DAY DELETE WHERE startsWith(batch, 'stream-') AND step >= 3
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Facts. After a power failure everything that was written until then must be there, except rollups, which can be computed
-- again from the facts.

-- Users are numbered within their project, nearly in order of first appearance: a set of users is then a compact set of small
-- numbers. Only this table has the texts of their ids.
CREATE TABLE IF NOT EXISTS users
(
    project_id LowCardinality(String),
    user_id    String,
    user       UInt32,
    load       UInt64
)
ENGINE = MergeTree
ORDER BY (project_id, user_id)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- A load looks the users of its events up by a hash of their ids, in fine granules.
CREATE TABLE IF NOT EXISTS user_keys
(
    project_id LowCardinality(String),
    -- A 128-bit hash of the user id: two ids with the same hash are one user.
    user_key   UInt128 CODEC(NONE),
    user       UInt32,
    load       UInt64
)
ENGINE = MergeTree
ORDER BY (project_id, user_key)
SETTINGS
    index_granularity = 1024, min_compress_block_size = 16384, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- The highest number that a user of a project has had: new users are numbered after it.
CREATE TABLE IF NOT EXISTS user_counts
(
    project_id LowCardinality(String),
    last       SimpleAggregateFunction(max, UInt32)
)
ENGINE = AggregatingMergeTree
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The salt of each day's derived users. Once it is gone nobody can find out who they were.
CREATE TABLE IF NOT EXISTS salts
(
    day        Date,
    salt       String,
    created_at DateTime DEFAULT now('UTC')
)
ENGINE = MergeTree
ORDER BY day
TTL created_at + INTERVAL 2 DAY
SETTINGS merge_with_ttl_timeout = 3600, fsync_after_insert = 1, fsync_part_directory = 1;

-- Sessions, as changes: a state is a row with sign 1; when a later load changes the session, that row is written again with
-- sign -1, beside the new state. Sums over `sign` are exact at any moment. A state and its reversal have one sorting key, which
-- is no other state's: merges take both away.
CREATE TABLE IF NOT EXISTS sessions
(
    project_id    LowCardinality(String),
    session       UInt64,
    -- The load that wrote this state.
    load          UInt64,
    sign          Int8,
    user          UInt32,
    -- The id the sender gave; empty where the session was cut by the 30-minute rule.
    session_id    String,
    start_at      DateTime64(3, 'UTC') CODEC(T64, LZ4),
    end_at        DateTime64(3, 'UTC') CODEC(T64, LZ4),
    pageviews     UInt32 CODEC(T64, LZ4),
    events        UInt32 CODEC(T64, LZ4),
    -- The page of the first pageview, and its moment.
    entry_origin  LowCardinality(String),
    entry_path    String,
    entry_at      DateTime64(3, 'UTC') CODEC(T64, LZ4),
    country       LowCardinality(String),
    city          LowCardinality(String),
    browser       LowCardinality(String),
    device_type   LowCardinality(String),
    os            LowCardinality(String),
    referrer      LowCardinality(String),
    referrer_url  String,
    referrer_type LowCardinality(String),
    utm_source    LowCardinality(String),
    utm_medium    LowCardinality(String),
    utm_campaign  LowCardinality(String),
    utm_content   LowCardinality(String),
    utm_term      LowCardinality(String),
    -- A condition on whole days reads this column, which takes next to no room, instead of `start_at`.
    start_day     Date MATERIALIZED toDate(start_at),
    -- Read instead of two moments.
    duration_ms   Int64 MATERIALIZED toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at) CODEC(T64, LZ4),
    -- The page of the last pageview, and its moment. Of pageviews at the same moment, the path that sorts last counts. A
    -- session without a pageview has the moment of its last event.
    exit_path     String,
    exit_at       DateTime64(3, 'UTC') CODEC(T64, LZ4),
    region        LowCardinality(String),
    language      LowCardinality(String),
    INDEX end_at end_at TYPE minmax GRANULARITY 1,
    INDEX session_id session_id TYPE bloom_filter(0.001) GRANULARITY 1,
    -- The loader looks up sessions by user and day. Those that last for most of a day are found by this index.
    INDEX hours dateDiff('hour', start_at, end_at) TYPE minmax GRANULARITY 1,
    -- Finds the few granules with replaced states, which are there until they are merged.
    INDEX signs sign TYPE minmax GRANULARITY 1,
    INDEX exit_at exit_at TYPE minmax GRANULARITY 1
)
ENGINE = CollapsingMergeTree(sign)
PARTITION BY toYYYYMM(start_at)
ORDER BY (project_id, toDate(start_at), user, session, load)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Version 0.1.0 reads this table, which is empty. Databases that it has upgraded keep mutations that name it.
CREATE TABLE IF NOT EXISTS session_exits
(
    session   UInt64,
    load      UInt64,
    exit_path String,
    exit_at   DateTime64(3, 'UTC')
)
ENGINE = Join(ANY, LEFT, session, load);

-- Events: one row per event, with the attributes of its session.
CREATE TABLE IF NOT EXISTS events
(
    project_id    LowCardinality(String),
    timestamp     DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    user          UInt32,
    session       UInt64,
    -- The load that wrote this row.
    load          UInt64,
    name          LowCardinality(String),
    anonymous     Bool,
    origin        LowCardinality(String),
    path          String,
    hash          String,
    properties    Map(LowCardinality(String), String),
    country       LowCardinality(String),
    city          LowCardinality(String),
    browser       LowCardinality(String),
    device_type   LowCardinality(String),
    os            LowCardinality(String),
    referrer      LowCardinality(String),
    referrer_url  String,
    referrer_type LowCardinality(String),
    utm_source    LowCardinality(String),
    utm_medium    LowCardinality(String),
    utm_campaign  LowCardinality(String),
    utm_content   LowCardinality(String),
    utm_term      LowCardinality(String),
    -- Read instead of `timestamp`, as `start_day` of sessions.
    day           Date MATERIALIZED toDate(timestamp),
    region        LowCardinality(String),
    language      LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY (project_id, toDate(timestamp), user, timestamp)
SETTINGS
    non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
    -- A load syncs each file that it writes to the disk. Up to this size, about 600,000 events, the columns of a part share a
    -- file, so a load of events syncs one file instead of a hundred. It is read about as fast.
    min_bytes_for_wide_part = 67108864;

-- The ids of all events that came with one: what comes again under the same id is dropped. Each load looks its own up among
-- all: with fine granules it reads less for each.
CREATE TABLE IF NOT EXISTS event_ids
(
    project_id LowCardinality(String),
    -- A 128-bit hash of the id the sender gave.
    event_id   UInt128 CODEC(NONE)
)
ENGINE = MergeTree
ORDER BY (project_id, event_id)
SETTINGS
    index_granularity = 1024, min_compress_block_size = 16384, max_compress_block_size = 16384,
    non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Events that are not tracked, counted by day and reason: `bot`, `ip` or `country`.
CREATE TABLE IF NOT EXISTS exclusions
(
    project_id LowCardinality(String),
    day        Date,
    reason     LowCardinality(String),
    events     UInt64
)
ENGINE = SummingMergeTree
ORDER BY (project_id, day, reason)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- What user agents are, by the rules of a version. A row that is gone is written again when it is needed.
CREATE TABLE IF NOT EXISTS agents
(
    user_agent  String,
    version     LowCardinality(String),
    browser     LowCardinality(String),
    os          LowCardinality(String),
    device_type LowCardinality(String),
    is_bot      Bool,
    made_at     DateTime DEFAULT now('UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (user_agent, version)
TTL made_at + INTERVAL 90 DAY;

-- What referrers are, by the rules of a version; the key is a host, for some hosts with a path.
CREATE TABLE IF NOT EXISTS referrers
(
    key     String,
    version LowCardinality(String),
    name    LowCardinality(String),
    kind    LowCardinality(String),
    made_at DateTime DEFAULT now('UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (key, version)
TTL made_at + INTERVAL 90 DAY;

-- Rollups: the counts of the facts by day and by month, for each value of a dimension. Views fill them as the loader writes;
-- `src/rollups/materialized-views.ts` creates the views from the table of dimensions.

-- The changes of events: a new event is a row with sign 1; one whose session changes is a row with sign -1 as it was, and one with
-- sign 1 as it is. Views read it, and nothing is kept.
CREATE TABLE IF NOT EXISTS event_changes
(
    project_id    LowCardinality(String),
    timestamp     DateTime64(3, 'UTC'),
    user          UInt32,
    session       UInt64,
    sign          Int8,
    name          LowCardinality(String),
    origin        LowCardinality(String),
    path          String,
    properties    Map(LowCardinality(String), String),
    country       LowCardinality(String),
    city          LowCardinality(String),
    browser       LowCardinality(String),
    device_type   LowCardinality(String),
    os            LowCardinality(String),
    referrer      LowCardinality(String),
    referrer_type LowCardinality(String),
    utm_source    LowCardinality(String),
    utm_medium    LowCardinality(String),
    utm_campaign  LowCardinality(String),
    utm_content   LowCardinality(String),
    utm_term      LowCardinality(String)
)
ENGINE = Null;

-- The same by day and group, on its way to all rollups: views read it, and nothing is kept.
CREATE TABLE IF NOT EXISTS rollup_changes
(
    family     LowCardinality(String),
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String,
    day        Date,
    users      AggregateFunction(groupBitmap, UInt32),
    pageviews  Int64,
    events     Int64,
    visits     Int64,
    bounces    Int64,
    duration   Int64
)
ENGINE = Null;

-- Rollups by session attribute, and in total (dimension `total`).
CREATE TABLE IF NOT EXISTS sessions_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1)),
    visits     Int64 CODEC(T64, ZSTD(1)),
    bounces    Int64 CODEC(T64, ZSTD(1)),
    -- Milliseconds.
    duration   Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, day, value)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS sessions_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1)),
    visits     Int64 CODEC(T64, ZSTD(1)),
    bounces    Int64 CODEC(T64, ZSTD(1)),
    -- Milliseconds.
    duration   Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, month, value)
SETTINGS non_replicated_deduplication_window = 10000;

-- Rollups by page: events that happened on it, and visits that entered on it.
CREATE TABLE IF NOT EXISTS pageviews_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1)),
    visits     Int64 CODEC(T64, ZSTD(1)),
    bounces    Int64 CODEC(T64, ZSTD(1)),
    -- Milliseconds.
    duration   Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, day, value)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS pageviews_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1)),
    visits     Int64 CODEC(T64, ZSTD(1)),
    bounces    Int64 CODEC(T64, ZSTD(1)),
    -- Milliseconds.
    duration   Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, month, value)
SETTINGS non_replicated_deduplication_window = 10000;

-- Rollups by event name, and by the value of each property (dimension `event:prop:<name>`).
CREATE TABLE IF NOT EXISTS events_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, day, value)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS events_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    pageviews  Int64 CODEC(T64, ZSTD(1)),
    events     Int64 CODEC(T64, ZSTD(1))
)
ENGINE = SummingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, month, value)
SETTINGS non_replicated_deduplication_window = 10000;

-- The users of all those groups, as sets of their numbers. A set that must lose users is written again as the
-- next generation, and only then are its older rows deleted: united they are never too few.
CREATE TABLE IF NOT EXISTS users_daily
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    day        Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, dimension, value, day, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 128;

CREATE TABLE IF NOT EXISTS users_monthly
(
    project_id LowCardinality(String),
    dimension  LowCardinality(String),
    value      String CODEC(ZSTD(1)),
    month      Date CODEC(ZSTD(1)),
    generation UInt64 CODEC(ZSTD(1)),
    users      AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(3))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (project_id, dimension, value, month, generation)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 128;

-- Under which definition of the views the rollups are complete: the last row counts.
CREATE TABLE IF NOT EXISTS rollup_builds
(
    definition String,
    built_at   DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY built_at;

-- How far the rollups are built: one row per step. A build that was interrupted goes on after the last month, and an older
-- version sees that a newer one has begun.
CREATE TABLE IF NOT EXISTS rollup_progress
(
    -- The version of the definition; a newer definition has a higher one.
    version    UInt32,
    -- The hash of the definition.
    definition String,
    -- 1 begun: the views are about to change; 2 the views were created; 3 a month was rebuilt.
    step       UInt8,
    -- A hash that tells these views from any that are created later.
    views      String,
    -- The month of step 3, e.g. 202601.
    month      UInt32,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY at;

-- Journals

-- What was deleted: users, and whole projects. One row per step, the last counts; the last of all says no more who it was, and
-- those before it are deleted.
CREATE TABLE IF NOT EXISTS removals
(
    -- A number of the same sequence as those of the loads.
    removal       UInt64,
    -- 1 started: nothing is deleted yet, or a part of a project; 2 staged: being deleted; 3 deleted: its tables are to be
    -- dropped; 4 ended.
    step          UInt8,
    project_id    String,
    -- The number of the user; 0: it is the whole project.
    user          UInt32,
    -- The public token of a whole project: a later project has another, also under the same id.
    project_token String,
    at            DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(step)
ORDER BY removal
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Expirations, which delete a project's data before a day: one row per step, the last counts.
CREATE TABLE IF NOT EXISTS expirations
(
    -- A number of the same sequence as those of loads and removals.
    expiration UInt64,
    -- 1 started: nothing is deleted yet; 2 staged: being deleted; 4 ended.
    step       UInt8,
    project_id String,
    -- The first day that is kept.
    kept_from  Date,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(step)
ORDER BY expiration
SETTINGS non_replicated_deduplication_window = 1000;

-- The first day that each project keeps, as an expiration last decided it; the row written last counts. Its next move is limited
-- by it: a clock that is wrong must not delete what is to be kept.
CREATE TABLE IF NOT EXISTS cutoffs
(
    project_id  String,
    kept_from   Date32,
    -- The days that the project kept at that time.
    keep_days   UInt32,
    -- By the earlier of the clocks of the store and of the host that decided it.
    recorded_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY project_id;

-- When the data of a project changes: one row per project, the last counts. A change is announced before queries can see any of
-- it, and ended when they see all of it, so that services know which answers they may give again.
CREATE TABLE IF NOT EXISTS project_changes
(
    -- Empty: all projects.
    project_id   String,
    -- Rows that are written later have higher numbers.
    change       UInt64,
    -- Whether the change is going on.
    is_open      Bool,
    -- Which announcement the row belongs to: another one for each.
    announcement UUID,
    at           DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(change)
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Moves and widenings, at the home of a cluster: which project is given which shards, and how far. One row per step, the last
-- counts.
CREATE TABLE IF NOT EXISTS moves
(
    move       UInt64,
    -- 1 started: the facts are copied; 2 switched: the project lives on its new shards; 3 ended, or aborted.
    step       UInt8,
    project_id String,
    -- These four are not written: `legs` has them.
    source     String,
    target     String,
    base       UInt64,
    last       UInt64,
    at         DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    -- The shards that the project lives on afterwards, in order.
    shards     Array(String),
    -- What each target gets from which source. `base` is added to the numbers of loads that the rows have at the source, and
    -- `last` is the last number that is reserved for them at the target. A widening has several sources and targets, a move one
    -- of each.
    legs       Array(Tuple(source String, target String, base UInt64, last UInt64))
)
ENGINE = ReplacingMergeTree(step)
ORDER BY move
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- The users who have left a shard of a project that is being widened, and whose rows it still has: queries leave them out.
CREATE TABLE IF NOT EXISTS departures
(
    project_id String,
    users      AggregateFunction(groupBitmap, UInt32)
)
ENGINE = MergeTree
ORDER BY project_id
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;
