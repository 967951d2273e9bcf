/**
 * The times in the life of the salt of a UTC day (docs/api.md, Cookieless mode). Raw records of the day need it: it is created before the
 * day begins, and removed after the last raw record of the day has expired.
 */

const HOUR_MS = 3600_000;

/** How long before its day the salt is created. Must be less than the hour in SALT_KEPT_LONGER_MS. */
export const SALT_AHEAD_MS = 5 * 60_000;

/**
 * How long after midnight UTC a visit can keep the visitor ID of the previous day. The enricher computes this ID from the salt of the
 * previous day. During these hours, it looks for such a visit, which adds 10 % to the cost of a record.
 */
export const PREVIOUS_SALT_MS = 4 * HOUR_MS;

/**
 * A salt is removed this long after the retention of its raw records has ended. The log removes an expired record within one minute. Two minutes
 * leave a margin.
 */
export const SALT_REMOVAL_LAG_MS = 2 * 60_000;

/**
 * How much longer than raw records Kafka keeps a row of the topic `salts`: 24 hours for the day of the salt, and one hour for its early
 * creation.
 */
export const SALT_KEPT_LONGER_MS = 25 * HOUR_MS;
