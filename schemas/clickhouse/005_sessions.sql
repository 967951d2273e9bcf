-- One row for each session. A bounce is one pageview and no other event; the duration goes to the last hit, `$engagement` included.
-- What was only ever named by server events, or has nothing but `$engagement`, is no session.
CREATE VIEW IF NOT EXISTS sessions AS
WITH
(
    SELECT (groupArray(fragment_id), groupArray(session_id))
    FROM (SELECT '' AS fragment_id, '' AS session_id UNION ALL SELECT fragment_id, session_id FROM session_moves)
) AS moved
SELECT
    site_id,
    session_id,
    head[1] AS visitor_id,
    started_at,
    ended_at,
    -- Whole seconds that went by; dateDiff counts how often the clock's second changed.
    toUInt32(intDiv(toUnixTimestamp64Milli(ended_at) - toUnixTimestamp64Milli(started_at), 1000)) AS duration_seconds,
    pageviews,
    events,
    entry_path,
    exit_path,
    pageviews = 1 AND events = 0 AS is_bounce,
    head[2] AS referrer_domain,
    head[3] AS channel,
    head[4] AS traffic_source,
    head[5] AS utm_source,
    head[6] AS utm_medium,
    head[7] AS utm_campaign,
    head[8] AS utm_term,
    head[9] AS utm_content,
    head[10] AS country,
    head[11] AS region,
    head[12] AS city,
    head[13] AS browser,
    head[14] AS os,
    head[15] AS device_type
FROM
(
    SELECT
        site_id,
        transform(session_fragments.session_id, moved.1, moved.2) AS session_id,
        toDateTime64(min(session_fragments.started_at), 3, 'UTC') AS started_at,
        toDateTime64(max(session_fragments.ended_at), 3, 'UTC') AS ended_at,
        sum(session_fragments.pageviews) AS pageviews,
        sum(session_fragments.events) AS events,
        argMinMerge(session_fragments.entry_path) AS entry_path,
        argMaxMerge(session_fragments.exit_path) AS exit_path,
        splitByChar('\0', argMinMerge(first)) AS head
    FROM session_fragments
    GROUP BY site_id, session_id
    HAVING max(visited)
);
