-- As in 009_people_of_events.sql, but a trait that looks like a date stays a text: without the settings, ClickHouse read "1956-03-12" as a time and
-- showed it as "1956-03-12 00:00:00.000000000".
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
) AS seen USING (site_id, profile_id)
SETTINGS input_format_try_infer_dates = 0, input_format_try_infer_datetimes = 0;
