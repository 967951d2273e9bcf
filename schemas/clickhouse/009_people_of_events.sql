-- Whose an event is (docs/people-and-money.md): of the user that it names, where that user has a profile; else of its visitor.

-- When a visitor was seen, beside each user that its events named. A timestamp in the future counts for its event, and a person was not seen
-- after the event was received.
CREATE TABLE IF NOT EXISTS people_seen
(
    site_id LowCardinality(String),
    visitor_id String,
    user_id String,
    first_seen_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_seen_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, visitor_id, user_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS people_seen_fill TO people_seen AS
SELECT site_id, visitor_id, user_id, min(least(timestamp, received_at)) AS first_seen_at, max(least(timestamp, received_at)) AS last_seen_at
FROM records
WHERE outcome = 'row' AND bot = '' AND (visitor_id != '' OR user_id != '')
GROUP BY site_id, visitor_id, user_id;

-- Backfill. Minima and maxima: it may overlap with inserts of a running writer, and may be repeated.
INSERT INTO people_seen (site_id, visitor_id, user_id, first_seen_at, last_seen_at)
SELECT site_id, visitor_id, user_id, min(least(timestamp, received_at)) AS first_seen_at, max(least(timestamp, received_at)) AS last_seen_at
FROM records
WHERE outcome = 'row' AND bot = '' AND (visitor_id != '' OR user_id != '')
GROUP BY site_id, visitor_id, user_id;

-- The users that have a profile.
CREATE VIEW IF NOT EXISTS users AS
SELECT site_id, toString(any(profiles_latest.user_id)) AS user_id, profile_id
FROM profiles_latest
GROUP BY site_id, profile_id;

-- The users, and under the empty key when they were read.
CREATE VIEW IF NOT EXISTS users_with_time AS
SELECT toString(site_id) AS site_id, user_id, profile_id FROM users
UNION ALL
SELECT '' AS site_id, '' AS user_id, toString(toUnixTimestamp(now('UTC'))) AS profile_id;

-- As links_dictionary: `events` adds what is younger than its empty key says.
CREATE DICTIONARY IF NOT EXISTS users_dictionary
(
    site_id String,
    user_id String,
    profile_id String
)
PRIMARY KEY site_id, user_id
SOURCE(CLICKHOUSE(USER '{username}' PASSWORD '{password}' DB '{database}' TABLE 'users_with_time'))
LIFETIME(MIN 30 MAX 60)
LAYOUT(COMPLEX_KEY_HASHED());

-- As in 004_events.sql, with the user that the event names.
CREATE OR REPLACE VIEW events AS
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
    enrichment, bot, bot_reason, idempotency_key, log_id, raw_partition, raw_offset
FROM records
WHERE outcome = 'row';

CREATE OR REPLACE VIEW people_events AS
SELECT
    events.*,
    if(
        people.visitor_id = '' OR (events.user_id != '' AND (events.site_id, events.user_id) IN (SELECT site_id, user_id FROM users)),
        events.profile_id,
        people.profile_id
    ) AS profile_id_then
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

-- As in 008_authenticated_identities.sql; first_seen_at and last_seen_at take in the events that are the profile's.
CREATE OR REPLACE VIEW profiles AS
SELECT
    site_id,
    profile_id,
    identified.user_id AS user_id,
    said.email AS email,
    said.name AS name,
    said.image AS image,
    CAST(said.traits, 'JSON') AS traits,
    visited.visitor_ids AS visitor_ids,
    if(seen.events = 0, identified.first_seen_at, least(identified.first_seen_at, seen.first_seen_at)) AS first_seen_at,
    if(seen.events = 0, identified.last_seen_at, greatest(identified.last_seen_at, seen.last_seen_at)) AS last_seen_at
FROM
(
    SELECT
        site_id,
        profile_id,
        toString(any(profiles_latest.user_id)) AS user_id,
        toDateTime64(min(profiles_latest.first_seen_at), 3, 'UTC') AS first_seen_at,
        toDateTime64(max(profiles_latest.last_seen_at), 3, 'UTC') AS last_seen_at
    FROM profiles_latest
    GROUP BY site_id, profile_id
) AS identified
INNER JOIN
(
    SELECT
        site_id,
        profile_id,
        JSONExtractString(anyIf(value, field = 'email')) AS email,
        JSONExtractString(anyIf(value, field = 'name')) AS name,
        JSONExtractString(anyIf(value, field = 'image')) AS image,
        groupArrayIf(concat('"', substring(field, length('traits.') + 1), '":', value), field LIKE 'traits.%' AND value != 'null') AS pairs,
        concat('{', arrayStringConcat(pairs, ','), '}') AS traits
    FROM
    (
        SELECT site_id, profile_id, toString(profile_values.field) AS field, argMaxMerge(profile_values.value) AS value
        FROM profile_values
        GROUP BY site_id, profile_id, field
    )
    GROUP BY site_id, profile_id
) AS said USING (site_id, profile_id)
INNER JOIN
(
    SELECT site_id, profile_id, arraySort(groupArrayIf(visitor_id, profile_id = owner)) AS visitor_ids
    FROM (SELECT site_id, visitor_id, profile_id AS owner, profile_ids FROM links)
    ARRAY JOIN profile_ids AS profile_id
    GROUP BY site_id, profile_id
) AS visited USING (site_id, profile_id)
LEFT JOIN
(
    SELECT
        one.site_id AS site_id,
        if(named.profile_id != '', named.profile_id, linked.profile_id) AS profile_id,
        count() AS events,
        toDateTime64(min(one.first_seen_at), 3, 'UTC') AS first_seen_at,
        toDateTime64(max(one.last_seen_at), 3, 'UTC') AS last_seen_at
    FROM people_seen AS one
    LEFT JOIN users AS named ON named.site_id = one.site_id AND named.user_id = one.user_id
    LEFT JOIN links AS linked ON linked.site_id = one.site_id AND linked.visitor_id = one.visitor_id
    GROUP BY site_id, profile_id
) AS seen USING (site_id, profile_id);

-- What people_seen replaces.
DROP VIEW IF EXISTS visitors_fill;
DROP TABLE IF EXISTS visitors_seen;
