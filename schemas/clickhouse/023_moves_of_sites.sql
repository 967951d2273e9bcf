-- As in 016_sessions_of_rows.sql, but ClickHouse finds the rows of the visitors by the hash of their IDs. The condition on site, hour and visitor alone
-- selects nearly all granules of the table, so it read nearly all IDs.
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
                    PREWHERE visitor_key IN (SELECT sipHash64(visitor_id) FROM moved_hours)
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

-- The views `event_rows` and `sessions` looked up moved sessions by the session ID only. But two sites can have the same IDs, for example after the
-- import of a dump, and a late hit of one site then changed the sessions of the other one. Now they look them up by site and ID.
CREATE OR REPLACE VIEW event_rows AS
WITH
(
    SELECT (groupArray(concat(site_id, '\0', visitor_id)), groupArray(profile_id))
    FROM
    (
        SELECT '' AS site_id, '' AS visitor_id, '' AS profile_id
        UNION ALL
        SELECT site_id, visitor_id, profile_id
        FROM links
        WHERE (site_id, visitor_id) IN
        (
            SELECT site_id, visitor_id FROM links_latest
            WHERE inserted_at > toDateTime(toInt64OrZero(dictGet('{database}.links_dictionary', 'profile_id', ('', ''))) - 180, 'UTC')
        )
    )
) AS young,
(
    SELECT (groupArray(concat(site_id, '\0', user_id)), groupArray(profile_id))
    FROM
    (
        SELECT '' AS site_id, '' AS user_id, '' AS profile_id
        UNION ALL
        SELECT site_id, user_id, profile_id
        FROM users
        WHERE (site_id, profile_id) IN
        (
            SELECT site_id, profile_id FROM links_latest
            WHERE inserted_at > toDateTime(toInt64OrZero(dictGet('{database}.users_dictionary', 'profile_id', ('', ''))) - 180, 'UTC')
        )
    )
) AS young_users,
(
    SELECT (groupArray(concat(site_id, '\0', fragment_id)), groupArray(session_id))
    FROM
    (
        SELECT '' AS site_id, '' AS fragment_id, '' AS session_id
        UNION ALL
        SELECT toString(site_id) AS site_id, fragment_id, session_id FROM session_moves
    )
) AS moved,
if(
    records.user_id = '',
    '',
    transform(
        concat(site_id, '\0', records.user_id), young_users.1, young_users.2,
        dictGet('{database}.users_dictionary', 'profile_id', (toString(site_id), records.user_id))
    )
) AS user_profile
SELECT
    site_id, event_id, source, type, event_name, timestamp, received_at, visitor_id,
    transform(concat(site_id, '\0', records.session_id), moved.1, moved.2, records.session_id) AS session_id, user_id,
    if(
        user_profile != '',
        user_profile,
        transform(
            concat(site_id, '\0', visitor_id), young.1, young.2,
            dictGet('{database}.links_dictionary', 'profile_id', (toString(site_id), visitor_id))
        )
    ) AS profile_id,
    cookieless, value, value_text, properties, url, hostname, pathname, referrer, referrer_domain,
    utm_source, utm_medium, utm_campaign, utm_term, utm_content, ref, source_param, via, click_id_type,
    channel, traffic_source, country, region, city, timezone, browser, browser_version, os, os_version,
    device_type, device_brand, device_model, platform, screen_width, screen_height, language,
    enrichment, bot, bot_reason, idempotency_key, log_id, raw_partition, raw_offset,
    visit_stamp, visit_started, visit_new, visit_bounces, visit_seconds, visit_entry, visit_source, visit_channel, visit_referrer_domain,
    visit_utm_source, visit_utm_medium, visit_utm_campaign, visit_utm_term, visit_utm_content
FROM records
WHERE outcome = 'row';

CREATE OR REPLACE VIEW sessions AS
WITH
(
    SELECT (groupArray(concat(site_id, '\0', fragment_id)), groupArray(session_id))
    FROM
    (
        SELECT '' AS site_id, '' AS fragment_id, '' AS session_id
        UNION ALL
        SELECT toString(site_id) AS site_id, fragment_id, session_id FROM session_moves
    )
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
        transform(concat(site_id, '\0', session_parts.session_id), moved.1, moved.2, session_parts.session_id) AS session_id,
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
