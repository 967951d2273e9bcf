-- profile_id is resolved when it is queried: by the links in memory, and by the links that were inserted after those were read
-- (three minutes are allowed for an insert that was under way then). A query that doesn't name it only pays for finding the latter.
CREATE VIEW IF NOT EXISTS events AS
WITH
(
    SELECT (groupArray(concat(site_id, '\0', visitor_id)), groupArray(profile_id))
    FROM
    (
        SELECT '' AS site_id, '' AS visitor_id, '' AS profile_id
        UNION ALL
        SELECT site_id, visitor_id, argMaxMerge(links_latest.profile_id) AS profile_id
        FROM links_latest
        WHERE (site_id, visitor_id) IN
        (
            SELECT site_id, visitor_id FROM links_latest
            WHERE inserted_at > toDateTime(toInt64OrZero(dictGet('{database}.links_dictionary', 'profile_id', ('', ''))) - 180, 'UTC')
        )
        GROUP BY site_id, visitor_id
    )
) AS young
SELECT
    site_id, event_id, source, type, event_name, timestamp, received_at, visitor_id, session_id, user_id,
    transform(
        concat(site_id, '\0', visitor_id), young.1, young.2,
        dictGet('{database}.links_dictionary', 'profile_id', (toString(site_id), visitor_id))
    ) AS profile_id,
    cookieless, value, value_text, properties, url, hostname, pathname, referrer, referrer_domain,
    utm_source, utm_medium, utm_campaign, utm_term, utm_content, ref, source_param, via, click_id_type,
    channel, traffic_source, country, region, city, timezone, browser, browser_version, os, os_version,
    device_type, device_brand, device_model, platform, screen_width, screen_height, language,
    enrichment, bot, idempotency_key, log_id, raw_partition, raw_offset
FROM records
WHERE outcome = 'row';
