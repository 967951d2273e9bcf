-- What an authenticated identify has set, an unauthenticated one never changes (docs/people-and-money.md, Who may say it). An identify is
-- authenticated when a server sent it with a key, or a browser with the signature of a server (`signed` in the record's detail).
-- A value's rank is (authenticated, received_at, event_id), and the highest rank wins, whatever the order of inserts.
CREATE TABLE IF NOT EXISTS identities
(
    site_id LowCardinality(String),
    visitor_id String,
    received_at DateTime64(3, 'UTC'),
    event_id String,
    profile_id String,
    authenticated Bool,
    detail String
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS identities_fill TO identities AS
SELECT
    site_id,
    visitor_id,
    received_at,
    event_id,
    JSONExtractString(detail, 'profile_id') AS profile_id,
    source = 'server' OR JSONExtractBool(detail, 'signed') AS authenticated,
    detail
FROM records
WHERE outcome = 'identify' AND reason != 'unlink';

-- The value of each field that was sent, as JSON: `email`, `name`, `image`, `traits.<key>`. `null` stands for a trait that was removed: it has a
-- rank too. Each profile has a row under an empty field: `profiles` waits for it.
CREATE TABLE IF NOT EXISTS profile_values
(
    site_id LowCardinality(String),
    profile_id String,
    field LowCardinality(String),
    value AggregateFunction(argMax, String, Tuple(Bool, DateTime64(3, 'UTC'), String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, profile_id, field)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS profile_values_fill TO profile_values AS
SELECT
    site_id,
    profile_id,
    pair.1 AS field,
    argMaxState(pair.2, (authenticated, received_at, event_id)) AS value
FROM
(
    SELECT
        site_id,
        profile_id,
        authenticated,
        received_at,
        event_id,
        arrayConcat(
            [('', '')],
            arrayFilter(
                sent -> sent.2 != '',
                arrayMap(key -> (key, JSONExtractRaw(detail, key)), ['email', 'name', 'image'])
            ),
            arrayMap(trait -> (concat('traits.', trait.1), trait.2), JSONExtractKeysAndValuesRaw(detail, 'traits'))
        ) AS pairs
    FROM identities
)
ARRAY JOIN pairs AS pair
GROUP BY site_id, profile_id, field;

-- Which visitor and profile a payment customer was linked to.
CREATE TABLE IF NOT EXISTS payment_links
(
    site_id LowCardinality(String),
    payment_customer_id String,
    owner AggregateFunction(
        argMax,
        Tuple(String, String, Tuple(DateTime64(3, 'UTC'), String)),
        Tuple(Bool, DateTime64(3, 'UTC'), String)
    )
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, payment_customer_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS payment_links_fill TO payment_links AS
SELECT
    site_id,
    JSONExtractString(detail, 'payment_customer_id') AS payment_customer_id,
    argMaxState((visitor_id, profile_id, (received_at, event_id)), (authenticated, received_at, event_id)) AS owner
FROM identities
WHERE payment_customer_id != ''
GROUP BY site_id, payment_customer_id;

-- Backfill. Inserting an identify twice changes nothing, so this may overlap with inserts of a running writer, and may be repeated.
INSERT INTO identities (site_id, visitor_id, received_at, event_id, profile_id, authenticated, detail)
SELECT
    site_id,
    visitor_id,
    received_at,
    event_id,
    JSONExtractString(detail, 'profile_id') AS profile_id,
    source = 'server' OR JSONExtractBool(detail, 'signed') AS authenticated,
    detail
FROM records
WHERE outcome = 'identify' AND reason != 'unlink';

-- As in 003_people.sql, but for the values: those of the highest rank.
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
    if(empty(visited.visitor_ids) OR visited.first_seen_at = 0, identified.first_seen_at, least(identified.first_seen_at, visited.first_seen_at)) AS first_seen_at,
    greatest(identified.last_seen_at, visited.last_seen_at) AS last_seen_at
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

-- The visitor is empty where it was unlinked from that profile after the customer was linked.
CREATE OR REPLACE VIEW payment_customers AS
SELECT
    customers.site_id AS site_id,
    customers.payment_customer_id AS payment_customer_id,
    if(unlinks.unlinked_last > customers.owned.3, '', customers.owned.1) AS visitor_id,
    customers.owned.2 AS profile_id,
    customers.owned.3.1 AS linked_at
FROM
(
    SELECT site_id, payment_customer_id, argMaxMerge(payment_links.owner) AS owned
    FROM payment_links
    GROUP BY site_id, payment_customer_id
) AS customers
LEFT JOIN
(
    SELECT site_id, visitor_id, profile_id, max(unlinked) AS unlinked_last
    FROM links_latest
    WHERE unlinked.2 != ''
    GROUP BY site_id, visitor_id, profile_id
) AS unlinks ON unlinks.site_id = customers.site_id AND unlinks.visitor_id = customers.owned.1 AND unlinks.profile_id = customers.owned.2;

-- What the tables above replace. Of `profiles_latest`, user_id and the times stay.
DROP VIEW IF EXISTS traits_fill;
DROP TABLE IF EXISTS traits_latest;
DROP VIEW IF EXISTS payment_customers_fill;
DROP TABLE IF EXISTS payment_customers_latest;

ALTER TABLE profiles_fill MODIFY QUERY
SELECT
    site_id,
    profile_id,
    any(JSONExtractString(detail, 'user_id')) AS user_id,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at
FROM identified
WHERE NOT unlinks
GROUP BY site_id, profile_id;

ALTER TABLE profiles_latest DROP COLUMN IF EXISTS email, DROP COLUMN IF EXISTS name, DROP COLUMN IF EXISTS image;
