-- Rows with a session_id, bots left out. Entry and exit are by event time, pageviews before other events; the attributes are the
-- first event's by (timestamp, event_id). So batches may come in any order.
CREATE TABLE IF NOT EXISTS sessions_merged
(
    site_id LowCardinality(String),
    session_id String,
    started_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    ended_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    pageviews SimpleAggregateFunction(sum, UInt64),
    events SimpleAggregateFunction(sum, UInt64),
    entry_path AggregateFunction(argMin, String, Tuple(Bool, DateTime64(3, 'UTC'), String)),
    exit_path AggregateFunction(argMax, String, Tuple(Bool, DateTime64(3, 'UTC'), String)),
    first AggregateFunction(argMin, Tuple(
        visitor_id String, referrer_domain String, channel String, traffic_source String,
        utm_source String, utm_medium String, utm_campaign String, utm_term String, utm_content String,
        country String, region String, city String, browser String, os String, device_type String
    ), Tuple(DateTime64(3, 'UTC'), String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, session_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS sessions_fill TO sessions_merged AS
SELECT
    site_id,
    session_id,
    min(timestamp) AS started_at,
    max(timestamp) AS ended_at,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'event') AS events,
    argMinState(pathname, (type != 'pageview', timestamp, event_id)) AS entry_path,
    argMaxState(pathname, (type = 'pageview', timestamp, event_id)) AS exit_path,
    argMinState(CAST(
        (
            visitor_id, referrer_domain, channel, traffic_source, utm_source, utm_medium, utm_campaign, utm_term, utm_content,
            country, region, city, browser, os, device_type
        ),
        'Tuple(visitor_id String, referrer_domain String, channel String, traffic_source String, utm_source String, utm_medium String, utm_campaign String, utm_term String, utm_content String, country String, region String, city String, browser String, os String, device_type String)'
    ), (timestamp, event_id)) AS first
FROM records
WHERE outcome = 'row' AND session_id != '' AND bot = ''
GROUP BY site_id, session_id;

-- A bounce is one pageview and no other event.
CREATE VIEW IF NOT EXISTS sessions AS
SELECT
    site_id,
    session_id,
    head.visitor_id AS visitor_id,
    started_at,
    ended_at,
    toUInt32(dateDiff('second', started_at, ended_at)) AS duration_seconds,
    pageviews,
    events,
    entry_path,
    exit_path,
    pageviews = 1 AND events = 0 AS is_bounce,
    head.referrer_domain AS referrer_domain,
    head.channel AS channel,
    head.traffic_source AS traffic_source,
    head.utm_source AS utm_source,
    head.utm_medium AS utm_medium,
    head.utm_campaign AS utm_campaign,
    head.utm_term AS utm_term,
    head.utm_content AS utm_content,
    head.country AS country,
    head.region AS region,
    head.city AS city,
    head.browser AS browser,
    head.os AS os,
    head.device_type AS device_type
FROM
(
    SELECT
        site_id,
        session_id,
        min(sessions_merged.started_at) AS started_at,
        max(sessions_merged.ended_at) AS ended_at,
        sum(sessions_merged.pageviews) AS pageviews,
        sum(sessions_merged.events) AS events,
        argMinMerge(sessions_merged.entry_path) AS entry_path,
        argMaxMerge(sessions_merged.exit_path) AS exit_path,
        argMinMerge(first) AS head
    FROM sessions_merged
    GROUP BY site_id, session_id
);
