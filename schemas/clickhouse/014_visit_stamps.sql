-- Stamps (docs/tables.md, event_rows): the enricher writes the attributes of its visit into each row, and what the row changes in the sums of the
-- visit. Reports add up these columns. Rows that were stored before have 0 and empty texts.
ALTER TABLE records
    -- 0: the row has no stamp. 1: the stamp is right. 2: the visit of the row must be computed from `session_fragments`.
    ADD COLUMN IF NOT EXISTS visit_stamp UInt8,
    ADD COLUMN IF NOT EXISTS visit_started DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    -- 1 in the first counted row of a visit, otherwise 0.
    ADD COLUMN IF NOT EXISTS visit_new Int8,
    -- How the row changes the number of bounces (1, 0 or -1) and the duration of its visit in whole seconds.
    ADD COLUMN IF NOT EXISTS visit_bounces Int8,
    ADD COLUMN IF NOT EXISTS visit_seconds Int32,
    -- Of the visit, as in `sessions`.
    ADD COLUMN IF NOT EXISTS visit_entry LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_source LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_channel LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_referrer_domain LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_utm_source LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_utm_medium LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_utm_campaign LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_utm_term LowCardinality(String),
    ADD COLUMN IF NOT EXISTS visit_utm_content LowCardinality(String);

-- The visits that must be computed, by the days of their rows with the stamp 2.
CREATE TABLE IF NOT EXISTS visits_computed
(
    site_id LowCardinality(String),
    day Date,
    session_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (site_id, day, session_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS visits_computed_fill TO visits_computed AS
SELECT site_id, toDate(timestamp, 'UTC') AS day, session_id
FROM records
WHERE outcome = 'row' AND visit_stamp = 2
GROUP BY site_id, day, session_id;

-- The columns of `events`, and the stamps. As in 009_people_of_events.sql, with the stamps.
CREATE VIEW IF NOT EXISTS event_rows AS
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
    SELECT (groupArray(fragment_id), groupArray(session_id))
    FROM (SELECT '' AS fragment_id, '' AS session_id UNION ALL SELECT fragment_id, session_id FROM session_moves)
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
    transform(records.session_id, moved.1, moved.2) AS session_id, user_id,
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

-- The same rows without the stamps.
CREATE OR REPLACE VIEW events AS
SELECT
    site_id, event_id, source, type, event_name, timestamp, received_at, visitor_id, session_id, user_id, profile_id,
    cookieless, value, value_text, properties, url, hostname, pathname, referrer, referrer_domain,
    utm_source, utm_medium, utm_campaign, utm_term, utm_content, ref, source_param, via, click_id_type,
    channel, traffic_source, country, region, city, timezone, browser, browser_version, os, os_version,
    device_type, device_brand, device_model, platform, screen_width, screen_height, language,
    enrichment, bot, bot_reason, idempotency_key, log_id, raw_partition, raw_offset
FROM event_rows;
