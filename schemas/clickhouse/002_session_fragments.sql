-- Rows with a session_id, bots left out, summed up by the session_id that they were given. Entry and exit are by event time,
-- pageviews before other events; the attributes are the first event's, by event time and a hash of event_id. So batches may come in any order.
-- A server event is counted, and neither starts nor prolongs: `visited` is false and the times say nothing where there is nothing else.
-- Events of Weir's own, as `$engagement`, whose names begin with a `$`, prolong and are counted nowhere.
CREATE TABLE IF NOT EXISTS session_fragments
(
    site_id LowCardinality(String),
    -- Of an ID that the enricher made, its visitor; else empty.
    made_for String,
    session_id String,
    visited SimpleAggregateFunction(max, Bool),
    started_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    ended_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    pageviews SimpleAggregateFunction(sum, UInt64),
    events SimpleAggregateFunction(sum, UInt64),
    -- Keys are one number and attributes one text, since tuples in such states cost ten times as much to read.
    entry_path AggregateFunction(argMin, String, UInt128),
    exit_path AggregateFunction(argMax, String, UInt128),
    -- visitor_id, referrer_domain, channel, traffic_source, utm_source, utm_medium, utm_campaign, utm_term, utm_content, country,
    -- region, city, browser, os, device_type: `sessions` takes them apart.
    first AggregateFunction(argMin, String, UInt128)
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, made_for, session_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS sessions_fill TO session_fragments AS
WITH
    source != 'server' AS of_visitor,
    NOT startsWith(event_name, '$') AS counts,
    of_visitor AND counts AS visits,
    bitOr(bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 64), toUInt128(sipHash64(event_id))) AS place,
    bitShiftLeft(toUInt128(1), 112) AS after_all
SELECT
    site_id,
    if(match(session_id, '^s_[0-9a-f]{32}$'), visitor_id, '') AS made_for,
    session_id,
    max(visits) AS visited,
    min(if(of_visitor, timestamp, toDateTime64('2200-01-01 00:00:00', 3, 'UTC'))) AS started_at,
    max(if(of_visitor, timestamp, toDateTime64(0, 3, 'UTC'))) AS ended_at,
    countIf(type = 'pageview') AS pageviews,
    countIf(type = 'event' AND counts) AS events,
    argMinStateIf(pathname, if(type = 'pageview', place, bitOr(place, after_all)), visits) AS entry_path,
    argMaxStateIf(pathname, if(type = 'pageview', bitOr(place, after_all), place), visits) AS exit_path,
    argMinStateIf(arrayStringConcat(arrayMap(text -> replaceAll(text, '\0', ''), [
        visitor_id, referrer_domain, channel, traffic_source, utm_source, utm_medium, utm_campaign, utm_term, utm_content,
        country, region, city, browser, os, device_type
    ]), '\0'), place, visits) AS first
FROM records
WHERE outcome = 'row' AND session_id != '' AND bot = ''
GROUP BY site_id, made_for, session_id;

-- Visitors of whom a late hit has joined sessions that had IDs of their own, or has moved the start of one into an earlier half hour:
-- the enricher says so in the row's detail. (Else `session_moves` would have to look at all visitors, in each query.)
CREATE TABLE IF NOT EXISTS sessions_moved
(
    site_id LowCardinality(String),
    visitor_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (site_id, visitor_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS sessions_moved_fill TO sessions_moved AS
SELECT site_id, visitor_id
FROM records
WHERE outcome = 'row' AND detail = '{"session_moved":true}'
GROUP BY site_id, visitor_id;

-- Which session a made ID is of, where it is another one's: of all fragments of a visitor, those within 30 minutes of each other
-- are one session, and its ID is a hash of site, visitor and the half hour in which it starts (put-session.ts makes the same).
CREATE VIEW IF NOT EXISTS session_moves AS
SELECT site_id, fragment_id, session_id
FROM
(
    SELECT
        site_id,
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
                SELECT site_id, made_for, session_id AS fragment_id, min(started_at) AS began, max(ended_at) AS ended
                FROM session_fragments
                WHERE made_for != '' AND (site_id, made_for) IN (SELECT site_id, visitor_id FROM sessions_moved)
                GROUP BY site_id, made_for, session_id
            )
        )
    )
    WINDOW session AS (PARTITION BY site_id, made_for, nth)
)
WHERE session_id != fragment_id;
