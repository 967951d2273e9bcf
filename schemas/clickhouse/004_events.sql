-- profile_id is resolved when it is queried: by the links in memory, and by the links that were inserted after those were read
-- (three minutes are allowed for an insert that was under way then). A query that doesn't name it only pays for finding the latter.
-- session_id is that of `sessions`, also of rows that came before the hit which joined or moved their session (docs/decisions/0012).
CREATE VIEW IF NOT EXISTS events AS
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
    SELECT (groupArray(fragment_id), groupArray(session_id))
    FROM (SELECT '' AS fragment_id, '' AS session_id UNION ALL SELECT fragment_id, session_id FROM session_moves)
) AS moved
SELECT
    site_id, event_id, source, type, event_name, timestamp, received_at, visitor_id,
    transform(records.session_id, moved.1, moved.2) AS session_id, user_id,
    transform(
        concat(site_id, '\0', visitor_id), young.1, young.2,
        dictGet('{database}.links_dictionary', 'profile_id', (toString(site_id), visitor_id))
    ) AS profile_id,
    cookieless, value, value_text, properties, url, hostname, pathname, referrer, referrer_domain,
    utm_source, utm_medium, utm_campaign, utm_term, utm_content, ref, source_param, via, click_id_type,
    channel, traffic_source, country, region, city, timezone, browser, browser_version, os, os_version,
    device_type, device_brand, device_model, platform, screen_width, screen_height, language,
    enrichment, bot, bot_reason, idempotency_key, log_id, raw_partition, raw_offset
FROM records
WHERE outcome = 'row';

-- `events`, and `profile_id_then`: who the visitor was when the event happened (docs/decisions/0013). It differs from
-- `profile_id`, who it is now, only for visitors that were more than one: the join is with those alone.
CREATE VIEW IF NOT EXISTS people_events AS
SELECT events.*, if(people.visitor_id = '', events.profile_id, people.profile_id) AS profile_id_then
FROM events
ASOF LEFT JOIN
(
    SELECT site_id, visitor_id, since, profile_id
    FROM links_in_time
    WHERE (site_id, visitor_id) IN
    (
        SELECT site_id, visitor_id FROM links_latest GROUP BY site_id, visitor_id HAVING uniqExact(links_latest.profile_id) > 1
    )
) AS people
ON people.site_id = events.site_id AND people.visitor_id = events.visitor_id AND events.timestamp >= people.since;
