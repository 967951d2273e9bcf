/**
 * The traffic of one site over a year, as SQL over `numbers()`: the same seed gives the same rows. Sessions are numbered in the
 * order of their start, so a chunk is a run of numbers, and chunks are inserted in the order of time, as live traffic is.
 */
export interface Traffic {
  readonly seed: number;
  readonly sessions: number;
  /** The end of the traffic in Unix milliseconds. The traffic begins a year earlier. */
  readonly endMs: number;
}

export const TRAFFIC_SITE = 'bench';
const TRAFFIC_DAYS = 365;
const DAY_MS = 24 * 3600_000;
const PATHS = 50_000;
const PAGES_MAX = 170;
/** One row of 20 arrives up to 23 hours late: in the insert after that of its session. */
const LATE_ROW_OF = 20;
/** Half of the sessions are those of cookieless visitors, whose session IDs Weir makes. */
const COOKIELESS_PERCENT = 50;
const BOT_PERCENT = 3;
/** Visitors with an ID return: each of them has this many sessions on average. */
const SESSIONS_PER_VISITOR = 4;
const IDLE_MS = 1_800_000;
/** Whether reports must compute the visit from its rows (docs/decisions/0033). They must if a late row is before the first row that arrived in time. */
const COMPUTES = 'indexOf(lates, 1) > 0 AND indexOf(lates, 1) - 1 < in_time[1]';
const pathOf = (page: string): string =>
  `if(${page} = 0, '/', concat('/section-', toString(${page} % 40), '/page-', toString(${page})))`;

const CHANNELS = [
  ['Direct', '', '', ''],
  ['Organic Search', 'Google', 'google.com', ''],
  ['Organic Search', 'Bing', 'bing.com', ''],
  ['Organic Social', 'Reddit', 'reddit.com', ''],
  ['Referral', 'news.example', 'news.example', ''],
  ['Email', 'newsletter', '', 'email'],
  ['Paid Search', 'Google', 'google.com', 'cpc'],
] as const;
const COUNTRIES = 'US DE GB FR IN BR CA NL ES IT JP AU PL SE CH AT MX KR TR ID'.split(' ');
const BROWSERS = ['Chrome', 'Safari', 'Firefox', 'Edge', 'Samsung Internet'];
const SYSTEMS = ['Windows', 'iOS', 'Android', 'macOS', 'Linux'];
const DEVICES = ['desktop', 'mobile', 'tablet'];
const LANGUAGES = ['en-US', 'en-GB', 'de-DE', 'fr-FR', 'es-ES', 'pt-BR'];
const EVENTS = ['signup', 'add_to_cart', 'purchase', 'download', 'outbound'];

const list = (values: readonly string[]): string => `[${values.map((value) => `'${value}'`).join(', ')}]`;
const pick = (values: readonly string[], number: string): string =>
  `arrayElement(${list(values)}, 1 + toUInt32(pow(${number}, 2) * ${values.length}))`;

/** The statement that counts all rows of the traffic, including late rows. */
export function countRows(traffic: Traffic): string {
  return `SELECT sum(hits) FROM (${sessionsSql(traffic, 0, traffic.sessions)})`;
}

/** A number from 0 to 1 that depends on the seed, on an expression and on a name. */
const random = (seed: number, of: string, name: string): string =>
  `(sipHash64(${seed}, ${of}, '${name}') % 1000003 / 1000003)`;

function sessionsSql({ seed, sessions, endMs }: Traffic, from: number, count: number): string {
  const ofSession = (name: string): string => random(seed, 'nth', name);
  const ofVisitor = (name: string): string => random(seed, 'who', name);
  const channel = (column: number): string =>
    `arrayElement(${list(CHANNELS.map((one) => one[column] ?? ''))}, 1 + toUInt32(pow(${ofSession('link')}, 2) * ${CHANNELS.length}))`;
  const startMs = endMs - TRAFFIC_DAYS * DAY_MS;
  return `
    SELECT
      number AS nth,
      toInt64(${startMs} + (nth + ${ofSession('start')}) * ${(TRAFFIC_DAYS * DAY_MS) / sessions}) AS began,
      ${ofSession('cookie')} < ${COOKIELESS_PERCENT / 100} AS cookieless,
      ${ofSession('bot')} < ${BOT_PERCENT / 100} AS is_bot,
      if(cookieless, nth, sipHash64(${seed}, nth, 'visitor') % ${Math.ceil(sessions / 2 / SESSIONS_PER_VISITOR)}) AS who,
      lower(hex(MD5(concat('${seed}', if(cookieless, 'c', 'v'), toString(who))))) AS visitor_hex,
      if(cookieless, concat('c_', visitor_hex), visitor_hex) AS visitor,
      toUInt32(if(${ofSession('one')} < 0.5, 1, least(${PAGES_MAX}, 1 + pow(1 - ${ofSession('hits')}, -0.75)))) AS hits,
      1000 * toInt64(5 + pow(${ofSession('gap')}, 3) * 300) AS gap,
      ${channel(0)} AS channel0, ${channel(1)} AS source0, ${channel(2)} AS referrer0, ${channel(3)} AS medium0,
      if(medium0 = '', '', concat('campaign-', toString(toUInt32(pow(${ofSession('campaign')}, 3) * 200)))) AS campaign0,
      ${pick(COUNTRIES, ofVisitor('country'))} AS country0,
      toString(toUInt32(pow(${ofVisitor('region')}, 2) * 16)) AS region0,
      toString(toUInt32(pow(${ofVisitor('city')}, 3) * 100)) AS city0,
      ${pick(BROWSERS, ofVisitor('browser'))} AS browser0,
      toString(100 + toUInt32(pow(${ofVisitor('version')}, 2) * 30)) AS version0,
      ${pick(SYSTEMS, ofVisitor('os'))} AS os0,
      ${pick(DEVICES, ofVisitor('device'))} AS device0,
      ${pick(LANGUAGES, ofVisitor('language'))} AS language0
    FROM numbers(${from}, ${count})`;
}

/**
 * The statement that inserts the rows of sessions `from` to `from + count` that are in time, and the late rows of the `lateCount`
 * sessions before them. `firstOffset`: the raw offset of the first row.
 */
export function insertTraffic(
  traffic: Traffic,
  { from, count, lateCount, firstOffset }: Record<'from' | 'count' | 'lateCount' | 'firstOffset', number>,
): string {
  const { seed } = traffic;
  const ofHit = (name: string): string => random(seed, 'nth, hit', name);
  const isLate = `sipHash64(${seed}, nth, hit, 'late') % ${LATE_ROW_OF} = 0`;
  // The session ID is made from the time of the first row. If that row is late, the rows in time have an ID made from the time of the second row.
  const slot = (at: string): string => `toString(intDiv(${at}, ${IDLE_MS}))`;
  const made = (at: string): string =>
    `concat('s_', substring(lower(hex(SHA256(concat('${TRAFFIC_SITE}', '\\0', visitor, '\\0', ${slot(at)})))), 1, 32))`;
  const ofFirst = (value: string): string => `if(stamp = 1 AND first = 0, ${value}, '')`;
  const values: Readonly<Record<string, string>> = {
    outcome: "'row'",
    site_id: `'${TRAFFIC_SITE}'`,
    event_id: eventId('at', 'nth, hit', seed),
    source: "'collect'",
    type: "if(kind < 88, 'pageview', 'event')",
    event_name: `multiIf(kind < 88, '', kind < 92, '$engagement', ${pick(EVENTS, ofHit('event'))})`,
    timestamp: 'fromUnixTimestamp64Milli(at)',
    received_at: `fromUnixTimestamp64Milli(at + if(late, toInt64(${ofHit('delay')} * ${23 * 3600_000}), 40))`,
    visitor_id: 'visitor',
    session_id: `if(cookieless, ${made('if(late OR NOT first_is_late, began, began + gap)')}, lower(hex(MD5(concat('s', toString(nth))))))`,
    cookieless: 'cookieless',
    properties: `if(kind < 92, '{}', concat('{"plan":"', ${pick(['free', 'pro', 'team'], ofHit('plan'))}, '","price":', toString(toUInt32(${ofHit('price')} * 200)), ',"item":{"sku":"sku-', toString(toUInt32(pow(${ofHit('sku')}, 3) * 2000)), '"}}'))`,
    url: "concat('https://www.example.com', path, if(hit = 0 AND medium0 != '', concat('?utm_medium=', medium0, '&utm_source=', source0, '&utm_campaign=', campaign0), ''))",
    hostname: "'www.example.com'",
    pathname: 'path',
    referrer: "multiIf(hit > 0, 'https://www.example.com/', referrer0 = '', '', concat('https://', referrer0, '/'))",
    referrer_domain: "if(hit = 0, referrer0, '')",
    utm_source: "if(hit = 0 AND medium0 != '', source0, '')",
    utm_medium: "if(hit = 0, medium0, '')",
    utm_campaign: "if(hit = 0, campaign0, '')",
    channel: "if(hit = 0, channel0, 'Direct')",
    traffic_source: "if(hit = 0, source0, '')",
    country: 'country0',
    region: "concat(country0, '-', region0)",
    city: "concat('City ', country0, ' ', city0)",
    timezone: "'Europe/Berlin'",
    browser: 'browser0',
    browser_version: "concat(version0, '.0')",
    os: 'os0',
    os_version: "if(os0 = 'Windows', '10', version0)",
    device_type: 'device0',
    screen_width: '1440',
    screen_height: '900',
    language: 'language0',
    enrichment: "'bench'",
    bot: "if(is_bot, 'Googlebot', '')",
    bot_reason: "if(is_bot, 'search', '')",
    log_id: "'bench'",
    raw_offset: `${firstOffset} + rowNumberInAllBlocks()`,
    visit_stamp: 'stamp',
    visit_started: `fromUnixTimestamp64Milli(if(stamp = 1, began + toInt64(first) * gap, toInt64(0)))`,
    visit_new: 'stamp = 1 AND hit = first',
    visit_bounces:
      'if(stamp != 1 OR NOT is_counted, 0, if(hit = first, 1, if(arrayCount(n -> kinds[n + 1] NOT BETWEEN 88 AND 91, before) = 1, -1, 0)))',
    visit_seconds:
      'if(stamp != 1 OR hit = first, 0, intDiv(gap * greatest(0, toInt64(hit) - toInt64(arrayMax(before))), 1000))',
    visit_entry: `if(stamp = 1, ${pathOf(`toUInt32(pow(${random(seed, 'nth, first', 'path')}, 3) * ${PATHS})`)}, '')`,
    visit_source: ofFirst('source0'),
    visit_channel: `if(stamp = 1, if(first = 0, channel0, 'Direct'), '')`,
    visit_referrer_domain: ofFirst('referrer0'),
    visit_utm_source: ofFirst("if(medium0 = '', '', source0)"),
    visit_utm_medium: ofFirst('medium0'),
    visit_utm_campaign: ofFirst('campaign0'),
    detail: `if(cookieless AND late AND hit = 0 AND hits > 1 AND ${slot('began')} != ${slot('began + gap')}, '{"session_moved":true}', '')`,
  };
  const columns = Object.keys(values);
  const of = (start: number, sessions: number, late: 0 | 1): string => `
    SELECT ${columns.map((column) => `${values[column]} AS c_${column}`).join(',\n      ')}
    FROM
    (
      SELECT *, hit, began + toInt64(hit) * gap AS at, lates[hit + 1] AS late, kinds[hit + 1] AS kind, kind NOT BETWEEN 88 AND 91 AS is_counted,
        lates[1] AS first_is_late, toUInt32(pow(${ofHit('path')}, 3) * ${PATHS}) AS page, ${pathOf('page')} AS path,
        arrayFilter(n -> if(late, NOT lates[n + 1] OR n < hit, NOT lates[n + 1] AND n < hit), numbers) AS before,
        multiIf(is_bot, 0, kinds[first + 1] >= 88, 2, late AND computes, 2, 1) AS stamp
      FROM
      (
        SELECT *, arrayMap(n -> toUInt64(n), range(hits)) AS numbers,
          arrayMap(hit -> if(hit = 0, 0, sipHash64(${seed}, nth, 'kind', hit) % 100), numbers) AS kinds,
          arrayMap(hit -> ${isLate}, numbers) AS lates,
          arrayFilter(n -> NOT lates[n + 1], numbers) AS in_time,
          if(empty(in_time), 0, in_time[1]) AS first,
          notEmpty(in_time) AND ${COMPUTES} AS computes
        FROM (${sessionsSql(traffic, start, sessions)})
      )
      ARRAY JOIN numbers AS hit
    )
    WHERE late = ${late}`;
  return `INSERT INTO records (${columns.join(', ')})
    SELECT * FROM (${of(from, count, 0)} UNION ALL ${of(from - lateCount, lateCount, 1)})`;
}

/** Every 50th visitor with an ID is identified. Each user has two of these visitors. */
export function insertPeople({ seed, sessions, endMs }: Traffic, firstOffset: number): string {
  const visitors = Math.ceil(sessions / 2 / SESSIONS_PER_VISITOR);
  const visitor = `lower(hex(MD5(concat('${seed}', 'v', toString(number * 50)))))`;
  const user = "concat('user-', toString(intDiv(number, 2)))";
  const at = `fromUnixTimestamp64Milli(toInt64(${endMs - DAY_MS}))`;
  return `INSERT INTO records (outcome, site_id, event_id, source, type, timestamp, received_at, visitor_id, user_id, log_id, raw_partition, raw_offset, detail)
    SELECT 'identify', '${TRAFFIC_SITE}', ${eventId(String(endMs - DAY_MS), 'number', seed)}, 'server', 'identify', ${at}, ${at}, ${visitor}, ${user}, 'bench', 1,
      ${firstOffset} + number, concat('{"profile_id":"', lower(hex(MD5(${user}))), '","user_id":"', ${user}, '"}')
    FROM numbers(${Math.floor(visitors / 50)})`;
}

/** A UUID of version 7, whose random part is a hash. */
function eventId(atMs: string, of: string, seed: number): string {
  const time = `leftPad(lower(hex(toUInt64(${atMs}))), 16, '0')`;
  const rest = `lower(hex(sipHash128(${seed}, ${of}, 'event')))`;
  return `concat(substring(${time}, 5, 8), '-', substring(${time}, 13, 4), '-7', substring(${rest}, 1, 3), '-8', substring(${rest}, 4, 3), '-', substring(${rest}, 7, 12))`;
}
