-- Sessions are computed from the rows of `records`, and no longer stored beside them (docs/decisions/0036).

-- The rows of sessions, bots left out, each with what it adds to its session. The columns that end in `_place` are the keys by which the first
-- and the last values are found: the time and a hash of event_id, pageviews before other events. So batches may come in any order. A server
-- event is counted, but it neither starts nor prolongs a session: `visited` is false, and its times are after and before all others. Events of
-- Weir's own, as `$engagement`, whose names begin with a `$`, prolong the session and are not counted. row-visits.ts has the same expressions.
CREATE VIEW IF NOT EXISTS session_rows AS
WITH
    source != 'server' AS of_visitor,
    NOT startsWith(event_name, '$') AS counts,
    bitOr(bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 64), toUInt128(sipHash64(event_id))) AS place,
    bitOr(place, bitShiftLeft(toUInt128(1), 112)) AS place_after_all
SELECT
    site_id,
    -- Of an ID that the enricher made, its visitor; else empty.
    if(match(session_id, '^s_[0-9a-f]{32}$'), visitor_id, '') AS made_for,
    session_id,
    of_visitor AND counts AS visited,
    if(of_visitor, timestamp, toDateTime64('2200-01-01 00:00:00', 3, 'UTC')) AS started_at,
    if(of_visitor, timestamp, toDateTime64(0, 3, 'UTC')) AS ended_at,
    if(type = 'pageview', toUInt64(1), toUInt64(0)) AS pageviews,
    if(type = 'event' AND counts, toUInt64(1), toUInt64(0)) AS events,
    if(type = 'pageview', place, place_after_all) AS entry_place,
    if(type = 'pageview', place_after_all, place) AS exit_place,
    toString(pathname) AS entry_path,
    toString(pathname) AS exit_path,
    place AS first_place,
    visitor_id,
    toString(referrer_domain) AS referrer_domain,
    toString(channel) AS channel,
    toString(traffic_source) AS traffic_source,
    toString(utm_source) AS utm_source,
    toString(utm_medium) AS utm_medium,
    toString(utm_campaign) AS utm_campaign,
    toString(utm_term) AS utm_term,
    toString(utm_content) AS utm_content,
    toString(country) AS country,
    toString(region) AS region,
    toString(city) AS city,
    toString(browser) AS browser,
    toString(os) AS os,
    toString(device_type) AS device_type,
    received_at,
    log_id,
    raw_partition,
    raw_offset
FROM records
WHERE outcome = 'row' AND session_id != '' AND bot = '';

-- What the rows that retention has removed add to their sessions. `part` names the rows that were summed up. All values of a part are minima
-- and maxima, so inserting a part again changes nothing.
CREATE TABLE IF NOT EXISTS sessions_kept
(
    site_id LowCardinality(String),
    made_for String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    part LowCardinality(String),
    visited SimpleAggregateFunction(max, Bool),
    started_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')) CODEC(ZSTD(1)),
    ended_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(ZSTD(1)),
    pageviews SimpleAggregateFunction(max, UInt64) CODEC(ZSTD(1)),
    events SimpleAggregateFunction(max, UInt64) CODEC(ZSTD(1)),
    -- Each with its place.
    entry SimpleAggregateFunction(min, Tuple(UInt128, String)) CODEC(ZSTD(1)),
    exit SimpleAggregateFunction(max, Tuple(UInt128, String)) CODEC(ZSTD(1)),
    -- visitor_id, referrer_domain, channel, traffic_source, utm_source, utm_medium, utm_campaign, utm_term, utm_content, country,
    -- region, city, browser, os, device_type, with \0 between them.
    first SimpleAggregateFunction(min, Tuple(UInt128, String)) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, made_for, session_id, part)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- All that sessions are computed from.
CREATE VIEW IF NOT EXISTS session_parts AS
SELECT
    site_id, made_for, session_id, visited, started_at, ended_at, pageviews, events,
    entry_place, entry_path, exit_place, exit_path, first_place,
    visitor_id, referrer_domain, channel, traffic_source, utm_source, utm_medium, utm_campaign, utm_term, utm_content,
    country, region, city, browser, os, device_type
FROM session_rows
UNION ALL
SELECT
    site_id, made_for, session_id, visited, started_at, ended_at, pageviews, events,
    entry.1 AS entry_place, entry.2 AS entry_path, exit.1 AS exit_place, exit.2 AS exit_path, first.1 AS first_place,
    head[1] AS visitor_id, head[2] AS referrer_domain, head[3] AS channel, head[4] AS traffic_source, head[5] AS utm_source,
    head[6] AS utm_medium, head[7] AS utm_campaign, head[8] AS utm_term, head[9] AS utm_content,
    head[10] AS country, head[11] AS region, head[12] AS city, head[13] AS browser, head[14] AS os, head[15] AS device_type
FROM
(
    SELECT
        site_id, made_for, session_id,
        toUInt8(max(sessions_kept.visited)) AS visited,
        toDateTime64(min(sessions_kept.started_at), 3, 'UTC') AS started_at,
        toDateTime64(max(sessions_kept.ended_at), 3, 'UTC') AS ended_at,
        toUInt64(max(sessions_kept.pageviews)) AS pageviews,
        toUInt64(max(sessions_kept.events)) AS events,
        min(sessions_kept.entry) AS entry,
        max(sessions_kept.exit) AS exit,
        min(sessions_kept.first) AS first,
        splitByChar('\0', first.2) AS head
    FROM sessions_kept
    GROUP BY site_id, made_for, session_id, part
);

-- The hours in which a late hit of a visitor has joined sessions that had IDs of their own, or has moved the start of one into an earlier half
-- hour: the enricher says so in the row's detail.
CREATE TABLE IF NOT EXISTS moved_hours
(
    site_id LowCardinality(String),
    visitor_id String,
    hour DateTime('UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (site_id, visitor_id, hour)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS moved_hours_fill TO moved_hours AS
SELECT site_id, visitor_id, toStartOfHour(timestamp) AS hour
FROM records
WHERE outcome = 'row' AND detail = '{"session_moved":true}'
GROUP BY site_id, visitor_id, hour;

-- The tables that are replaced. They are missing if this migration was interrupted after its last statements.
CREATE TABLE IF NOT EXISTS session_fragments
(
    site_id LowCardinality(String),
    made_for String,
    session_id String,
    visited SimpleAggregateFunction(max, Bool),
    started_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    ended_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    pageviews SimpleAggregateFunction(sum, UInt64),
    events SimpleAggregateFunction(sum, UInt64),
    entry_path AggregateFunction(argMin, String, UInt128),
    exit_path AggregateFunction(argMax, String, UInt128),
    first AggregateFunction(argMin, String, UInt128)
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, made_for, session_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS sessions_moved
(
    site_id LowCardinality(String),
    visitor_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (site_id, visitor_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Sessions were joined or moved where one of them begins. Inserting an hour again changes nothing.
INSERT INTO moved_hours (site_id, visitor_id, hour)
SELECT DISTINCT site_id, made_for, toStartOfHour(toDateTime64(started_at, 3, 'UTC')) AS hour
FROM session_fragments
WHERE visited AND made_for != '' AND (site_id, made_for) IN (SELECT site_id, visitor_id FROM sessions_moved);

DROP VIEW IF EXISTS sessions_fill;
DROP VIEW IF EXISTS sessions_moved_fill;

-- What the fragments count and the rows don't was counted by rows that have expired. The states don't give the places, so they are made from
-- the times of the session.
INSERT INTO sessions_kept (site_id, made_for, session_id, part, visited, started_at, ended_at, pageviews, events, entry, exit, first)
WITH
    bitShiftLeft(toUInt128(1), 112) AS after_all,
    bitShiftLeft(toUInt128(toUnixTimestamp64Milli(started_at)), 64) AS began,
    bitOr(bitShiftLeft(toUInt128(toUnixTimestamp64Milli(ended_at)), 64), toUInt128(18446744073709551615)) AS ended
SELECT
    site_id, made_for, session_id, 'upgrade' AS part, visited, started_at, ended_at,
    toUInt64(greatest(counted_pageviews, 0)) AS pageviews,
    toUInt64(greatest(counted_events, 0)) AS events,
    (if(has_pageview, began, bitOr(began, after_all)), entry_path) AS entry,
    (if(has_pageview, bitOr(ended, after_all), ended), exit_path) AS exit,
    (began, head) AS first
FROM
(
    SELECT
        site_id, made_for, session_id,
        max(is_visited) AS visited,
        min(began_at) AS started_at,
        max(last_at) AS ended_at,
        sum(all_pageviews) AS counted_pageviews,
        sum(all_events) AS counted_events,
        max(all_pageviews) > 0 AS has_pageview,
        max(entry_text) AS entry_path,
        max(exit_text) AS exit_path,
        max(first_text) AS head
    FROM
    (
        SELECT
            toString(site_id) AS site_id, made_for, session_id,
            toUInt8(max(visited)) AS is_visited,
            toDateTime64(min(started_at), 3, 'UTC') AS began_at,
            toDateTime64(max(ended_at), 3, 'UTC') AS last_at,
            toInt64(sum(pageviews)) AS all_pageviews,
            toInt64(sum(events)) AS all_events,
            argMinMerge(entry_path) AS entry_text,
            argMaxMerge(exit_path) AS exit_text,
            argMinMerge(first) AS first_text
        FROM session_fragments
        WHERE site_id IN (SELECT site_id FROM records WHERE outcome = 'expired')
        GROUP BY site_id, made_for, session_id
        UNION ALL
        SELECT
            toString(site_id) AS site_id, made_for, session_id, 0, toDateTime64('2200-01-01 00:00:00', 3, 'UTC'), toDateTime64(0, 3, 'UTC'),
            -toInt64(pageviews), -toInt64(events), '', '', ''
        FROM session_rows
        WHERE site_id IN (SELECT site_id FROM records WHERE outcome = 'expired')
    )
    GROUP BY site_id, made_for, session_id
    HAVING counted_pageviews > 0 OR counted_events > 0
);

-- Which session a made ID is of, where it is another one's: of all IDs of a visitor near an hour of `moved_hours`, those whose rows are within
-- 30 minutes of each other are one session, and its ID is a hash of site, visitor and the half hour in which it starts (put-session.ts makes
-- the same). The stamp of a row says when its session began, also if that was more than six hours before.
CREATE OR REPLACE VIEW session_moves AS
SELECT site_id, fragment_id, session_id, made_for
FROM
(
    SELECT
        site_id,
        made_for,
        fragment_id,
        concat('s_', substring(lower(hex(SHA256(concat(
            site_id, '\0', made_for, '\0', toString(intDiv(toUnixTimestamp64Milli(min(began) OVER session), 1800000))
        )))), 1, 32)) AS session_id
    FROM
    (
        SELECT site_id, made_for, fragment_id, began, sum(is_new) OVER (PARTITION BY site_id, made_for ORDER BY began, fragment_id) AS nth
        FROM
        (
            SELECT
                site_id,
                made_for,
                fragment_id,
                began,
                began > addMinutes(max(ended) OVER (
                    PARTITION BY site_id, made_for ORDER BY began, fragment_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 30) AS is_new
            FROM
            (
                SELECT site_id, made_for, fragment_id, min(began_at) AS began, max(ended_at) AS ended
                FROM
                (
                    SELECT
                        site_id, visitor_id AS made_for, session_id AS fragment_id,
                        if(visit_stamp = 1, least(timestamp, visit_started), timestamp) AS began_at,
                        timestamp AS ended_at
                    FROM records
                    WHERE (site_id, toStartOfHour(timestamp), visitor_id) IN
                        (SELECT site_id, arrayJoin(arrayMap(n -> addHours(hour, n), range(-6, 7))) AS near, visitor_id FROM moved_hours)
                        AND outcome = 'row' AND bot = '' AND source != 'server' AND match(session_id, '^s_[0-9a-f]{32}$')
                    UNION ALL
                    SELECT site_id, made_for, session_id AS fragment_id, toDateTime64(started_at, 3, 'UTC') AS began_at, toDateTime64(ended_at, 3, 'UTC') AS ended_at
                    FROM sessions_kept
                    WHERE made_for != '' AND ended_at != 0 AND (site_id, made_for) IN (SELECT site_id, visitor_id FROM moved_hours)
                )
                GROUP BY site_id, made_for, fragment_id
            )
        )
    )
    WINDOW session AS (PARTITION BY site_id, made_for, nth)
)
WHERE session_id != fragment_id;

-- As in 005_sessions.sql, from the rows.
CREATE OR REPLACE VIEW sessions AS
WITH
(
    SELECT (groupArray(fragment_id), groupArray(session_id))
    FROM (SELECT '' AS fragment_id, '' AS session_id UNION ALL SELECT fragment_id, session_id FROM session_moves)
) AS moved
SELECT
    site_id,
    session_id,
    replaceAll(head_visitor_id, '\0', '') AS visitor_id,
    started_at,
    ended_at,
    -- Whole seconds that went by; dateDiff counts how often the clock's second changed.
    toUInt32(intDiv(toUnixTimestamp64Milli(ended_at) - toUnixTimestamp64Milli(started_at), 1000)) AS duration_seconds,
    pageviews,
    events,
    entry_path,
    exit_path,
    pageviews = 1 AND events = 0 AS is_bounce,
    replaceAll(head_referrer_domain, '\0', '') AS referrer_domain,
    replaceAll(head_channel, '\0', '') AS channel,
    replaceAll(head_traffic_source, '\0', '') AS traffic_source,
    replaceAll(head_utm_source, '\0', '') AS utm_source,
    replaceAll(head_utm_medium, '\0', '') AS utm_medium,
    replaceAll(head_utm_campaign, '\0', '') AS utm_campaign,
    replaceAll(head_utm_term, '\0', '') AS utm_term,
    replaceAll(head_utm_content, '\0', '') AS utm_content,
    replaceAll(head_country, '\0', '') AS country,
    replaceAll(head_region, '\0', '') AS region,
    replaceAll(head_city, '\0', '') AS city,
    replaceAll(head_browser, '\0', '') AS browser,
    replaceAll(head_os, '\0', '') AS os,
    replaceAll(head_device_type, '\0', '') AS device_type
FROM
(
    SELECT
        site_id,
        transform(session_parts.session_id, moved.1, moved.2) AS session_id,
        min(session_parts.started_at) AS started_at,
        max(session_parts.ended_at) AS ended_at,
        sum(session_parts.pageviews) AS pageviews,
        sum(session_parts.events) AS events,
        argMinIf(session_parts.entry_path, entry_place, visited) AS entry_path,
        argMaxIf(session_parts.exit_path, exit_place, visited) AS exit_path,
        argMinIf(visitor_id, first_place, visited) AS head_visitor_id,
        argMinIf(referrer_domain, first_place, visited) AS head_referrer_domain,
        argMinIf(channel, first_place, visited) AS head_channel,
        argMinIf(traffic_source, first_place, visited) AS head_traffic_source,
        argMinIf(utm_source, first_place, visited) AS head_utm_source,
        argMinIf(utm_medium, first_place, visited) AS head_utm_medium,
        argMinIf(utm_campaign, first_place, visited) AS head_utm_campaign,
        argMinIf(utm_term, first_place, visited) AS head_utm_term,
        argMinIf(utm_content, first_place, visited) AS head_utm_content,
        argMinIf(country, first_place, visited) AS head_country,
        argMinIf(region, first_place, visited) AS head_region,
        argMinIf(city, first_place, visited) AS head_city,
        argMinIf(browser, first_place, visited) AS head_browser,
        argMinIf(os, first_place, visited) AS head_os,
        argMinIf(device_type, first_place, visited) AS head_device_type
    FROM session_parts
    GROUP BY site_id, session_id
    HAVING max(visited)
);

DROP TABLE IF EXISTS session_fragments;
DROP TABLE IF EXISTS sessions_moved;
