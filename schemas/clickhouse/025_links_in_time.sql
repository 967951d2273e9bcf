-- As in 003_people.sql, but no lambda uses a whole array: ClickHouse copied that array for each of its elements, so 10,000 identifies of one visitor
-- needed about 10 GB. An identify stands if no later unlink has the same profile. Of those with the same time, the last one counts.
CREATE OR REPLACE VIEW links_in_time AS
SELECT site_id, visitor_id, change.1 AS since, change.2 AS profile_id
FROM
(
    SELECT
        site_id,
        visitor_id,
        arraySort(groupArrayArray(standing_of_profile)) AS standing,
        arrayShiftLeft(arrayMap(one -> one.1, standing), 1, toDateTime64('2200-01-01 00:00:00', 3, 'UTC')) AS times_after,
        arrayFilter((one, time_after) -> one.1 != time_after, standing, times_after) AS timely,
        arrayShiftRight(arrayMap(one -> one.3, timely), 1, '\0') AS profiles_before,
        arrayFilter((one, profile_before) -> one.3 != profile_before, timely, profiles_before) AS changes,
        arrayMap((one, at) -> (if(at = 1, toDateTime64(0, 3, 'UTC'), one.1), one.3), changes, arrayEnumerate(changes)) AS spans
    FROM
    (
        SELECT
            site_id,
            visitor_id,
            maxIf((received_at, event_id), links_log.unlinks) AS last_unlink,
            arrayFilter(
                one -> (one.1, one.2) >= last_unlink,
                groupArrayIf((received_at, event_id, profile_id), NOT links_log.unlinks)
            ) AS standing_of_profile
        FROM links_log
        GROUP BY site_id, visitor_id, profile_id
    )
    GROUP BY site_id, visitor_id
)
ARRAY JOIN spans AS change;
