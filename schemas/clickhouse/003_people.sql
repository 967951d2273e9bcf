-- Identifies only, kept nowhere: the views below hang on it, so that an insert without identifies doesn't pay for each of them.
-- `unlinks`: the record takes back what identifies before it said of this visitor and user (docs/decisions/0013), and says no more.
CREATE TABLE IF NOT EXISTS identified
(
    site_id LowCardinality(String),
    visitor_id String,
    received_at DateTime64(3, 'UTC'),
    event_id String,
    profile_id String,
    unlinks Bool,
    detail String
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS identified_fill TO identified AS
SELECT site_id, visitor_id, received_at, event_id, JSONExtractString(detail, 'profile_id') AS profile_id, reason = 'unlink' AS unlinks, detail
FROM records
WHERE outcome = 'identify';

-- When a visitor was last identified as a user, and last unlinked from it, by (received_at, event_id): whatever the order of inserts.
-- A person without a visitor is here too, under an empty one, for `profiles` to know that its insert came this far.
CREATE TABLE IF NOT EXISTS links_latest
(
    site_id LowCardinality(String),
    visitor_id String,
    profile_id String,
    linked SimpleAggregateFunction(max, Tuple(DateTime64(3, 'UTC'), String)),
    unlinked SimpleAggregateFunction(max, Tuple(DateTime64(3, 'UTC'), String)),
    inserted_at SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, visitor_id, profile_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS links_fill TO links_latest AS
SELECT
    site_id,
    visitor_id,
    profile_id,
    maxIf((received_at, event_id), NOT unlinks) AS linked,
    maxIf((received_at, event_id), unlinks) AS unlinked,
    now('UTC') AS inserted_at
FROM identified
GROUP BY site_id, visitor_id, profile_id;

-- Which user a visitor belongs to: the one it was identified as last, of those that it was not unlinked from since; empty where
-- none is left. profile_ids: all that it ever was.
CREATE VIEW IF NOT EXISTS links AS
SELECT
    site_id,
    visitor_id,
    argMaxIf(pairs.profile_id, pairs.linked_last, pairs.linked_last > pairs.unlinked_last AND visitor_id != '') AS profile_id,
    groupArray(pairs.profile_id) AS profile_ids
FROM
(
    SELECT site_id, visitor_id, profile_id, max(links_latest.linked) AS linked_last, max(links_latest.unlinked) AS unlinked_last
    FROM links_latest
    GROUP BY site_id, visitor_id, profile_id
) AS pairs
GROUP BY site_id, visitor_id;

-- The links, and under the empty key when they were read.
CREATE VIEW IF NOT EXISTS links_with_time AS
SELECT toString(site_id) AS site_id, visitor_id, profile_id FROM links
UNION ALL
SELECT '' AS site_id, '' AS visitor_id, toString(toUnixTimestamp(now('UTC'))) AS profile_id;

-- The links in memory, for `events.profile_id`, read again every half minute or so. `events` adds what is younger than its empty
-- key says, so its answers don't depend on when it was read.
CREATE DICTIONARY IF NOT EXISTS links_dictionary
(
    site_id String,
    visitor_id String,
    profile_id String
)
PRIMARY KEY site_id, visitor_id
SOURCE(CLICKHOUSE(USER '{username}' PASSWORD '{password}' DB '{database}' TABLE 'links_with_time'))
LIFETIME(MIN 30 MAX 60)
LAYOUT(COMPLEX_KEY_HASHED());

-- Every identify and unlink of a visitor, for who it was at a time.
CREATE TABLE IF NOT EXISTS links_log
(
    site_id LowCardinality(String),
    visitor_id String,
    received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    event_id String CODEC(ZSTD(1)),
    profile_id String CODEC(ZSTD(1)),
    unlinks Bool
)
ENGINE = ReplacingMergeTree
ORDER BY (site_id, visitor_id, received_at, event_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS links_log_fill TO links_log AS
SELECT site_id, visitor_id, received_at, event_id, profile_id, unlinks
FROM identified
WHERE visitor_id != '';

-- Who a visitor was, and since when: a row for each change, the first of which reaches back to the beginning of time.
CREATE VIEW IF NOT EXISTS links_in_time AS
SELECT site_id, visitor_id, change.1 AS since, change.2 AS profile_id
FROM
(
    SELECT
        site_id,
        visitor_id,
        arraySort(groupArrayIf((received_at, event_id, profile_id), NOT links_log.unlinks)) AS identifies,
        groupArrayIf((received_at, event_id, profile_id), links_log.unlinks) AS unlinked,
        arrayFilter(
            one -> NOT arrayExists(unlink -> unlink.3 = one.3 AND (unlink.1, unlink.2) > (one.1, one.2), unlinked),
            identifies
        ) AS standing,
        arrayFilter((one, at) -> at = length(standing) OR standing[at + 1].1 != one.1, standing, arrayEnumerate(standing)) AS timely,
        arrayFilter((one, at) -> at = 1 OR timely[at - 1].3 != one.3, timely, arrayEnumerate(timely)) AS changes,
        arrayMap((one, at) -> (if(at = 1, toDateTime64(0, 3, 'UTC'), one.1), one.3), changes, arrayEnumerate(changes)) AS spans
    FROM links_log
    GROUP BY site_id, visitor_id
)
ARRAY JOIN spans AS change;

-- When a visitor was seen.
CREATE TABLE IF NOT EXISTS visitors_seen
(
    site_id LowCardinality(String),
    visitor_id String,
    first_seen_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_seen_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, visitor_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS visitors_fill TO visitors_seen AS
SELECT site_id, visitor_id, min(timestamp) AS first_seen_at, max(timestamp) AS last_seen_at
FROM records
WHERE outcome = 'row' AND visitor_id != '' AND bot = ''
GROUP BY site_id, visitor_id;

-- A field that an identify does not send is NULL there, and argMax passes NULLs over: what was sent last stays.
CREATE TABLE IF NOT EXISTS profiles_latest
(
    site_id LowCardinality(String),
    profile_id String,
    user_id SimpleAggregateFunction(any, String),
    email AggregateFunction(argMax, Nullable(String), Tuple(DateTime64(3, 'UTC'), String)),
    name AggregateFunction(argMax, Nullable(String), Tuple(DateTime64(3, 'UTC'), String)),
    image AggregateFunction(argMax, Nullable(String), Tuple(DateTime64(3, 'UTC'), String)),
    first_seen_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_seen_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, profile_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS profiles_fill TO profiles_latest AS
SELECT
    site_id,
    profile_id,
    any(JSONExtractString(detail, 'user_id')) AS user_id,
    argMaxState(JSONExtract(detail, 'email', 'Nullable(String)'), (received_at, event_id)) AS email,
    argMaxState(JSONExtract(detail, 'name', 'Nullable(String)'), (received_at, event_id)) AS name,
    argMaxState(JSONExtract(detail, 'image', 'Nullable(String)'), (received_at, event_id)) AS image,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at
FROM identified
WHERE NOT unlinks
GROUP BY site_id, profile_id;

-- The latest value of each trait, as JSON; `null` stands for a trait that was removed. An identify without traits leaves an empty
-- value that is older than any: `profiles` waits for a row of each profile here.
CREATE TABLE IF NOT EXISTS traits_latest
(
    site_id LowCardinality(String),
    profile_id String,
    trait LowCardinality(String),
    value AggregateFunction(argMax, String, Tuple(DateTime64(3, 'UTC'), String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, profile_id, trait)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS traits_fill TO traits_latest AS
SELECT
    site_id,
    profile_id,
    pair.1 AS trait,
    argMaxState(pair.2, if(pair.2 = '', (toDateTime64(0, 3, 'UTC'), ''), (received_at, event_id))) AS value
FROM
(
    SELECT site_id, profile_id, received_at, event_id, JSONExtractKeysAndValuesRaw(detail, 'traits') AS sent
    FROM identified
    WHERE NOT unlinks
)
ARRAY JOIN if(empty(sent), [('', '')], sent) AS pair
GROUP BY site_id, profile_id, trait;

-- first_seen_at and last_seen_at take in what the visitors that belong to the profile did before and after they were identified.
-- An insert reaches the tables below one after the other, in an order of ClickHouse's own, and they are not read at one moment: a
-- new profile is shown when its fields, traits and visitor have all been read, never with a part of them.
CREATE VIEW IF NOT EXISTS profiles AS
SELECT
    site_id,
    profile_id,
    identified.user_id AS user_id,
    identified.email AS email,
    identified.name AS name,
    identified.image AS image,
    CAST(traits.text, 'JSON') AS traits,
    visited.visitor_ids AS visitor_ids,
    if(empty(visited.visitor_ids) OR visited.first_seen_at = 0, identified.first_seen_at, least(identified.first_seen_at, visited.first_seen_at)) AS first_seen_at,
    greatest(identified.last_seen_at, visited.last_seen_at) AS last_seen_at
FROM
(
    SELECT
        site_id,
        profile_id,
        toString(any(profiles_latest.user_id)) AS user_id,
        ifNull(argMaxMerge(profiles_latest.email), '') AS email,
        ifNull(argMaxMerge(profiles_latest.name), '') AS name,
        ifNull(argMaxMerge(profiles_latest.image), '') AS image,
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
        concat('{', arrayStringConcat(groupArrayIf(concat('"', trait, '":', value), value NOT IN ('', 'null')), ','), '}') AS text
    FROM
    (
        SELECT site_id, profile_id, trait, argMaxMerge(traits_latest.value) AS value
        FROM traits_latest
        GROUP BY site_id, profile_id, trait
    )
    GROUP BY site_id, profile_id
) AS traits USING (site_id, profile_id)
INNER JOIN
(
    SELECT
        site_id,
        profile_id,
        arraySort(groupArrayIf(visitor_id, belongs)) AS visitor_ids,
        minIf(first_seen_at, belongs AND first_seen_at != 0) AS first_seen_at,
        maxIf(last_seen_at, belongs) AS last_seen_at
    FROM
    (
        SELECT
            linked.site_id AS site_id, linked.visitor_id AS visitor_id, linked.profile_id AS profile_id,
            linked.profile_id = linked.owner AS belongs, seen.first_seen_at AS first_seen_at, seen.last_seen_at AS last_seen_at
        FROM
        (
            SELECT site_id, visitor_id, owner, profile_id
            FROM (SELECT site_id, visitor_id, profile_id AS owner, profile_ids FROM links)
            ARRAY JOIN profile_ids AS profile_id
        ) AS linked
        LEFT JOIN
        (
            SELECT site_id, visitor_id, toDateTime64(min(visitors_seen.first_seen_at), 3, 'UTC') AS first_seen_at,
                toDateTime64(max(visitors_seen.last_seen_at), 3, 'UTC') AS last_seen_at
            FROM visitors_seen
            GROUP BY site_id, visitor_id
        ) AS seen ON seen.site_id = linked.site_id AND seen.visitor_id = linked.visitor_id
    )
    GROUP BY site_id, profile_id
) AS visited USING (site_id, profile_id);

-- Which visitor and profile a payment customer belongs to: those of the latest identify that named it.
CREATE TABLE IF NOT EXISTS payment_customers_latest
(
    site_id LowCardinality(String),
    payment_customer_id String,
    owner AggregateFunction(argMax, Tuple(String, String, Tuple(DateTime64(3, 'UTC'), String)), Tuple(DateTime64(3, 'UTC'), String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, payment_customer_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS payment_customers_fill TO payment_customers_latest AS
SELECT
    site_id,
    JSONExtractString(detail, 'payment_customer_id') AS payment_customer_id,
    argMaxState((visitor_id, profile_id, (received_at, event_id)), (received_at, event_id)) AS owner
FROM identified
WHERE NOT unlinks AND payment_customer_id != ''
GROUP BY site_id, payment_customer_id;

-- The visitor is empty where it was unlinked from that profile after the customer was linked.
CREATE VIEW IF NOT EXISTS payment_customers AS
SELECT
    customers.site_id AS site_id,
    customers.payment_customer_id AS payment_customer_id,
    if(unlinks.unlinked_last > customers.owned.3, '', customers.owned.1) AS visitor_id,
    customers.owned.2 AS profile_id,
    customers.owned.3.1 AS linked_at
FROM
(
    SELECT site_id, payment_customer_id, argMaxMerge(owner) AS owned
    FROM payment_customers_latest
    GROUP BY site_id, payment_customer_id
) AS customers
LEFT JOIN
(
    SELECT site_id, visitor_id, profile_id, max(unlinked) AS unlinked_last
    FROM links_latest
    WHERE unlinked.2 != ''
    GROUP BY site_id, visitor_id, profile_id
) AS unlinks ON unlinks.site_id = customers.site_id AND unlinks.visitor_id = customers.owned.1 AND unlinks.profile_id = customers.owned.2;
