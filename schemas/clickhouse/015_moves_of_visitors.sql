-- As in 002_session_fragments.sql, with the visitor: a report reads the moves of few visitors (docs/decisions/0035).
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
                SELECT site_id, made_for, session_id AS fragment_id, min(started_at) AS began, max(ended_at) AS ended
                FROM session_fragments
                WHERE made_for != '' AND (site_id, made_for) IN (SELECT site_id, visitor_id FROM sessions_moved)
                GROUP BY site_id, made_for, session_id
            )
        )
    )
    WINDOW session AS (PARTITION BY site_id, made_for, nth)
)
WHERE session_id != fragment_id;
