-- Money (docs/people-and-money.md). A payment is a server event with a value and either `currency` or `payment_customer_id` among its
-- properties. What is here is as it was sent: whom it belongs to is asked when it is queried, so the order of arrival is nothing.
-- A visitor or session that the enricher found, and the server did not name, is left out: what it found hangs on the order.
CREATE TABLE IF NOT EXISTS payments_log
(
    site_id LowCardinality(String),
    event_id String CODEC(ZSTD(1)),
    event_name LowCardinality(String),
    timestamp DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    visitor_id String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    payment_customer_id String CODEC(ZSTD(1)),
    currency LowCardinality(String),
    amount_text String CODEC(ZSTD(1)),
    -- From the text, never through a Float64. NULL: no decimal number, or one with more than 20 digits before or 18 after the point.
    amount Nullable(Decimal(38, 18)) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (site_id, timestamp, event_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS payments_fill TO payments_log AS
SELECT
    site_id, event_id, event_name, timestamp, received_at,
    if(JSONExtractBool(detail, 'user_visitor'), '', visitor_id) AS visitor_id,
    if(JSONExtractBool(detail, 'visit_session'), '', session_id) AS session_id,
    user_id,
    customer AS payment_customer_id,
    upper(money) AS currency,
    multiIf(value_text != '', value_text, JSONHas(detail, 'number'), JSONExtractString(detail, 'number'), toString(assumeNotNull(value))) AS amount_text,
    if(
        value IS NOT NULL AND if(
            match(amount_text, '[eE]'),
            toFloat64(toDecimal128OrNull(amount_text, 18)) = value,
            match(amount_text, '^[+-]?0*\\d{0,20}(\\.\\d{0,18}0*)?$')
        ),
        toDecimal128OrNull(amount_text, 18),
        NULL
    ) AS amount
FROM
(
    SELECT
        site_id, event_id, event_name, timestamp, received_at, visitor_id, session_id, user_id, value, value_text, detail,
        ifNull(toString(properties.payment_customer_id), '') AS customer,
        ifNull(toString(properties.currency), '') AS money
    FROM records
    WHERE source = 'server' AND outcome = 'row'
)
WHERE (value IS NOT NULL OR value_text != '') AND (customer != '' OR money != '');

-- What a payment takes from a visit.
CREATE VIEW IF NOT EXISTS touches AS
SELECT
    site_id,
    session_id,
    visitor_id,
    started_at,
    CAST(
        (
            started_at, session_id, visitor_id, channel, traffic_source, utm_source, utm_medium, utm_campaign, utm_term, utm_content
        ),
        'Tuple(started_at DateTime64(3, \'UTC\'), session_id String, visitor_id String, channel String, traffic_source String, utm_source String, utm_medium String, utm_campaign String, utm_term String, utm_content String)'
    ) AS touch
FROM sessions;

-- Each payment, with whose it is: profile_id of the payment's customer; else of its user; else of its visitor at that time.
-- visitor_key: the visitor that the server named, itself or by the session; else the customer's where it has no profile.
CREATE VIEW IF NOT EXISTS payments_owned AS
SELECT
    site_id, event_id, event_name, timestamp, received_at, user_id, payment_customer_id, currency, amount_text, amount,
    customer_visitor_id, named_touch, own_visitor_id AS visitor_key,
    multiIf(customer_profile_id != '', customer_profile_id, user_profile_id != '', user_profile_id, was_profile_id) AS profile_id
FROM
(
    SELECT
        log.site_id AS site_id, log.event_id AS event_id, log.event_name AS event_name, log.timestamp AS timestamp,
        log.received_at AS received_at, named.touch AS named_touch, log.user_id AS user_id,
        log.payment_customer_id AS payment_customer_id, log.currency AS currency, log.amount_text AS amount_text,
        log.amount AS amount, customers.profile_id AS customer_profile_id, customers.visitor_id AS customer_visitor_id,
        users.profile_id AS user_profile_id, if(log.visitor_id != '', log.visitor_id, named.visitor_id) AS own_visitor_id
    FROM payments_log AS log
    LEFT JOIN payment_customers AS customers
        ON customers.site_id = log.site_id AND customers.payment_customer_id = log.payment_customer_id
    LEFT JOIN
    (
        SELECT site_id, any(profiles_latest.user_id) AS known_user_id, profile_id FROM profiles_latest GROUP BY site_id, profile_id
    ) AS users ON users.site_id = log.site_id AND users.known_user_id = log.user_id
    LEFT JOIN
    (
        SELECT site_id, session_id, visitor_id, touch FROM touches
        WHERE session_id IN (SELECT payments_log.session_id FROM payments_log WHERE payments_log.session_id != '')
    ) AS named ON named.site_id = log.site_id AND named.session_id = log.session_id
) AS payers
ASOF LEFT JOIN
(
    SELECT site_id, visitor_id AS own_visitor_id, since AS timestamp, profile_id AS was_profile_id FROM links_in_time
) AS was USING (site_id, own_visitor_id, timestamp);

-- Each payment once, with the visit, first touch and last touch that it came from. A person's visits are those of all visitors
-- while they were its profile; where there is no profile, the visitor's own.
-- visit: the session that was named; else the last one that began before the payment, of its visitor, or else of the person; else
-- the first one after it. Last touch: the last visit before the payment that was not Direct; where there is none, the visit.
CREATE VIEW IF NOT EXISTS payments AS
WITH
    -- Visits and payments side by side, by visitor and by profile, so that one pass in time finds the visits of all payments.
    moments AS
    (
        SELECT site_id, key, began_at AS at, false AS is_payment, touch, '' AS event_id
        FROM
        (
            SELECT site_id, visitor_id, profile_id, began_at, touch
            FROM (SELECT site_id, visitor_id, started_at AS began_at, touch FROM touches WHERE visitor_id != '') AS began
            ASOF LEFT JOIN (SELECT site_id, visitor_id, since AS began_at, profile_id FROM links_in_time) AS was
                USING (site_id, visitor_id, began_at)
        )
        ARRAY JOIN [concat('v', visitor_id), concat('p', profile_id)] AS key
        WHERE key != 'p' AND key IN (SELECT arrayJoin([concat('v', visitor_key), concat('p', profile_id)]) FROM payments_owned)
        UNION ALL
        SELECT site_id, key, timestamp AS at, true AS is_payment, named_touch AS touch, event_id
        FROM payments_owned
        ARRAY JOIN [concat('v', visitor_key), concat('p', profile_id)] AS key
    ),
    found AS
    (
        SELECT
            site_id,
            event_id,
            anyIf(before, key LIKE 'v%') AS own_before,
            anyIf(before, key LIKE 'p%') AS person_before,
            anyIf(marked, key LIKE 'v%') AS own_marked,
            anyIf(marked, key LIKE 'p%') AS person_marked,
            anyIf(first, key LIKE 'v%') AS own_first,
            anyIf(first, key LIKE 'p%') AS person_first
        FROM
        (
            SELECT
                site_id, event_id, key, is_payment,
                anyLastIf(touch, NOT is_payment) OVER so_far AS before,
                anyLastIf(touch, NOT is_payment AND touch.channel != 'Direct') OVER so_far AS marked,
                anyIf(touch, NOT is_payment) OVER whole AS first
            FROM moments
            WINDOW
                so_far AS (PARTITION BY site_id, key ORDER BY at, is_payment, touch.session_id, event_id ROWS UNBOUNDED PRECEDING),
                whole AS
                (
                    PARTITION BY site_id, key ORDER BY at, is_payment, touch.session_id, event_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                )
        )
        WHERE is_payment
        GROUP BY site_id, event_id
    ),
    touched AS
    (
        SELECT
            payments_owned.*,
            multiIf(
                named_touch.session_id != '', named_touch,
                own_before.session_id != '', own_before,
                person_before.session_id != '', person_before,
                own_first.session_id != '', own_first,
                person_first
            ) AS visit,
            if(person_first.session_id != '', person_first, own_first) AS first_touch,
            if(person_first.session_id != '', person_marked, own_marked) AS marked_touch,
            if(marked_touch.session_id != '', marked_touch, visit) AS last_touch
        FROM payments_owned
        LEFT JOIN found USING (site_id, event_id)
    )
SELECT
    site_id, event_id, event_name, timestamp, received_at, currency, amount, amount_text, payment_customer_id, user_id, profile_id,
    multiIf(visit.visitor_id != '', visit.visitor_id, visitor_key != '', visitor_key, customer_visitor_id) AS visitor_id,
    visit.session_id AS session_id,
    visit.started_at AS visit_started_at,
    multiIf(
        visit.session_id = '', 'none',
        named_touch.session_id != '', 'named',
        visit.started_at <= timestamp, 'before',
        'after'
    ) AS visit_found,
    visit.channel AS channel, visit.traffic_source AS traffic_source, visit.utm_source AS utm_source, visit.utm_medium AS utm_medium,
    visit.utm_campaign AS utm_campaign, visit.utm_term AS utm_term, visit.utm_content AS utm_content,
    first_touch.started_at AS first_started_at,
    first_touch.channel AS first_channel, first_touch.traffic_source AS first_traffic_source,
    first_touch.utm_source AS first_utm_source, first_touch.utm_medium AS first_utm_medium,
    first_touch.utm_campaign AS first_utm_campaign, first_touch.utm_term AS first_utm_term, first_touch.utm_content AS first_utm_content,
    last_touch.started_at AS last_started_at,
    last_touch.channel AS last_channel, last_touch.traffic_source AS last_traffic_source,
    last_touch.utm_source AS last_utm_source, last_touch.utm_medium AS last_utm_medium,
    last_touch.utm_campaign AS last_utm_campaign, last_touch.utm_term AS last_utm_term, last_touch.utm_content AS last_utm_content
FROM touched;

-- Per site, currency and channel of the visit. `unread`: payments whose amount is no decimal number; they are in no sum.
CREATE VIEW IF NOT EXISTS payment_totals AS
SELECT
    site_id,
    currency,
    channel,
    countIf(amount >= 0) AS payments,
    countIf(amount < 0) AS refunds,
    sum(toDecimal256(if(amount >= 0, amount, 0), 18)) AS paid,
    sum(toDecimal256(if(amount < 0, amount, 0), 18)) AS refunded,
    sum(toDecimal256(ifNull(amount, 0), 18)) AS net,
    countIf(amount IS NULL) AS unread,
    uniqExactIf(profile_id, profile_id != '') AS profiles
FROM payments
GROUP BY site_id, currency, channel;
