-- What loads stage. Each load has a partition of its own, which is dropped when the load ends.

-- Parsed rows of the inbox; see src/ingest/loader/steps/parse-rows.ts. They have IP addresses until the load ends.
CREATE TABLE IF NOT EXISTS loading_rows
(
    staged_load   UInt64,
    seq           UInt64,
    row           UInt64,
    project_id    LowCardinality(String),
    event_key     UInt128,
    timestamp     DateTime64(3, 'UTC'),
    name          String,
    user_id       String,
    anonymous     Bool,
    session_id    String,
    ip            String,
    user_agent    LowCardinality(String),
    referrer_key  LowCardinality(String),
    click_id      LowCardinality(String),
    origin        String,
    path          String,
    hash          String,
    properties    Map(String, String),
    country       String,
    city          String,
    browser       String,
    device_type   String,
    os            String,
    referrer      String,
    referrer_url  String,
    referrer_type String,
    utm_source    String,
    utm_medium    String,
    utm_campaign  String,
    utm_content   String,
    utm_term      String,
    region        String,
    language      String,
    fate          String,
    reason        String,
    rejected_line String,
    rejection     LowCardinality(String),
    received_on   Date
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY seq
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    -- The columns of a part share a file, because each file costs an fsync.
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;

-- Events that are not tracked.
CREATE TABLE IF NOT EXISTS loading_exclusions
(
    staged_load UInt64,
    seq         UInt64,
    project_id  LowCardinality(String),
    day         Date,
    reason      String
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY seq
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;

-- Rows that become events.
CREATE TABLE IF NOT EXISTS loading_kept
(
    staged_load UInt64,
    seq         UInt64,
    project_id  LowCardinality(String),
    timestamp   DateTime64(3, 'UTC'),
    session_id  String,
    user_id     String,
    user_key    UInt128
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY seq
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;

-- Their users, with their numbers.
CREATE TABLE IF NOT EXISTS loading_users
(
    staged_load UInt64,
    project_id  LowCardinality(String),
    user_key    UInt128,
    user_id     String,
    is_new      UInt8,
    number      UInt64,
    user        UInt32,
    load        UInt64
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY (project_id, user_key)
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;

-- New events and nearby sessions, by the run that becomes one session.
CREATE TABLE IF NOT EXISTS loading_items
(
    staged_load UInt64,
    seq         UInt64,
    project_id  LowCardinality(String),
    user        UInt32,
    session_id  String,
    is_new      Bool,
    session     UInt64,
    load        UInt64,
    opens       UInt8,
    run         UInt64
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY seq
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;

-- The new states of sessions.
CREATE TABLE IF NOT EXISTS loading_sessions
(
    staged_load   UInt64,
    project_id    String,
    session       UInt64,
    load          UInt64,
    sign          Int8,
    user          UInt32,
    session_id    String,
    start_at      DateTime64(3, 'UTC'),
    end_at        DateTime64(3, 'UTC'),
    pageviews     UInt32,
    events        UInt32,
    entry_origin  String,
    entry_path    String,
    entry_at      DateTime64(3, 'UTC'),
    exit_path     String,
    exit_at       DateTime64(3, 'UTC'),
    country       String,
    city          String,
    browser       String,
    device_type   String,
    os            String,
    referrer      String,
    referrer_url  String,
    referrer_type String,
    utm_source    String,
    utm_medium    String,
    utm_campaign  String,
    utm_content   String,
    utm_term      String,
    region        String,
    language      String,
    run           UInt64
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY run
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;

-- The stored states that they replace, each with the new number and the new attributes of its session.
CREATE TABLE IF NOT EXISTS loading_past
(
    staged_load       UInt64,
    project_id        LowCardinality(String),
    session           UInt64,
    load              UInt64,
    sign              Int8,
    user              UInt32,
    session_id        String,
    start_at          DateTime64(3, 'UTC'),
    end_at            DateTime64(3, 'UTC'),
    pageviews         UInt32,
    events            UInt32,
    entry_origin      LowCardinality(String),
    entry_path        String,
    entry_at          DateTime64(3, 'UTC'),
    exit_path         String,
    exit_at           DateTime64(3, 'UTC'),
    country           LowCardinality(String),
    city              LowCardinality(String),
    browser           LowCardinality(String),
    device_type       LowCardinality(String),
    os                LowCardinality(String),
    referrer          LowCardinality(String),
    referrer_url      String,
    referrer_type     LowCardinality(String),
    utm_source        LowCardinality(String),
    utm_medium        LowCardinality(String),
    utm_campaign      LowCardinality(String),
    utm_content       LowCardinality(String),
    utm_term          LowCardinality(String),
    region            LowCardinality(String),
    language          LowCardinality(String),
    new_session       UInt64,
    is_moved          UInt8,
    new_country       String,
    new_city          String,
    new_browser       String,
    new_device_type   String,
    new_os            String,
    new_referrer      String,
    new_referrer_url  String,
    new_referrer_type String,
    new_utm_source    String,
    new_utm_medium    String,
    new_utm_campaign  String,
    new_utm_content   String,
    new_utm_term      String,
    new_region        String,
    new_language      String
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY (project_id, session)
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;

-- Their stored events, with their new values.
CREATE TABLE IF NOT EXISTS loading_moved
(
    staged_load   UInt64,
    project_id    LowCardinality(String),
    timestamp     DateTime64(3, 'UTC'),
    user          UInt32,
    session       UInt64,
    load          UInt64,
    past_session  UInt64,
    name          LowCardinality(String),
    anonymous     Bool,
    origin        LowCardinality(String),
    path          String,
    hash          String,
    properties    Map(LowCardinality(String), String),
    country       String,
    city          String,
    browser       String,
    device_type   String,
    os            String,
    referrer      String,
    referrer_url  String,
    referrer_type String,
    utm_source    String,
    utm_medium    String,
    utm_campaign  String,
    utm_content   String,
    utm_term      String,
    region        String,
    language      String
)
ENGINE = MergeTree
PARTITION BY staged_load
ORDER BY (project_id, timestamp)
SETTINGS
    fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 10,
    min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000;
