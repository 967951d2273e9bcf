import { seededRandom } from '@weir/testkit/load';
import type { RowFields } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

/** Random rows for tests that compare two ways to answer a report, and filters for these reports. */

export const HOUR_MS = 3600_000;
export const DAY_MS = 24 * HOUR_MS;
export const T0 = Date.UTC(2026, 9, 20);
export const DAYS = 12;
export const SITE = 'shop';
/** The seed of the rows and questions of a run. `WEIR_SLOT_SEED` repeats an earlier run. */
export const SEED = Number(process.env.WEIR_SLOT_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Random choices that the seed decides. */
export interface RandomChoices {
  /** From 0 to below 1. */
  random(): number;
  pick<T>(values: readonly T[]): T;
  /** True with this probability. */
  chance(share: number): boolean;
}

export function choicesOf(seed: number): RandomChoices {
  const random = seededRandom(seed);
  return {
    random,
    pick: <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T,
    chance: (share) => random() < share,
  };
}

const PAGES = ['/', '/a', '/b', '/preise,neu', ''];
const NAMES = ['signup', 'buy', '$engagement', 'a:b'];

/** Visits on several days, rows without a visit or a visitor, bots, and server events. No two rows of a visit have the same time. */
export function randomVisits({ random, pick, chance }: RandomChoices): readonly RowFields[] {
  const rows: RowFields[] = [];
  for (let nth = 0; nth < 260; nth++) {
    const visitor = `v${Math.floor(random() * 90)}`;
    const start = T0 - DAY_MS + Math.floor(random() * (DAYS + 2) * DAY_MS);
    const isLong = chance(0.1);
    const link = {
      ...{ channel: pick(['Direct', 'Referral', '']), traffic_source: pick(['', 'google', 'Häufig']) },
      ...{
        referrer_domain: pick(['', 'x.example']),
        utm_source: pick(['', 'mail']),
        utm_campaign: pick(['', 'c1', 'c2']),
      },
    };
    const place = { country: pick(['', 'DE', 'AT']), region: pick(['', 'BY']), city: pick(['', 'Wien', 'Graz']) };
    let at = start;
    for (let hit = 0; hit < 1 + random() * 7; hit++) {
      const isServer = hit > 0 && chance(0.1);
      const isView = !isServer && chance(0.6);
      rows.push({
        ...{ site_id: SITE, visitor_id: visitor, session_id: `s${nth}`, timestamp: at, ...link, ...place },
        ...(chance(0.1) ? { country: 'FR', city: 'Paris', channel: 'Other', utm_term: 'late' } : {}),
        ...{ type: isView ? 'pageview' : 'event', event_name: isView ? '' : pick(NAMES), pathname: pick(PAGES) },
        ...{
          source: isServer ? 'server' : pick(['collect', 'collect', 'import']),
          hostname: pick(['a.example', 'b.example']),
        },
        ...{
          browser: pick(['', 'Firefox']),
          os: pick(['Linux', 'iOS']),
          device_type: pick(['', 'mobile']),
          language: pick(['de', '']),
        },
        ...(chance(0.5) ? { properties: randomProperties({ pick, chance }) } : {}),
        ...(hit > 0 && chance(0.03) ? { bot: 'Googlebot', bot_reason: 'known_bot' } : {}),
      });
      at += 1 + Math.floor(random() * (isLong ? 3 * HOUR_MS : 20 * 60_000));
    }
    const alone = { site_id: SITE, timestamp: start + 5, type: 'event', event_name: pick(NAMES), source: 'server' };
    if (chance(0.2))
      rows.push({ ...alone, visitor_id: chance(0.5) ? visitor : '', country: 'CH', channel: 'Referral' });
    if (chance(0.05)) rows.push({ ...alone, visitor_id: visitor, session_id: `server${nth}`, traffic_source: 'crm' });
  }
  return rows;
}

function randomProperties({ pick, chance }: Pick<RandomChoices, 'pick' | 'chance'>): Readonly<Record<string, unknown>> {
  return {
    ...(chance(0.7) ? { plan: pick(['pro', 'free', "o'x", '']) } : {}),
    ...(chance(0.5) ? { item: { sku: pick(['s1', 's2', 3]) } } : {}),
    ...(chance(0.3) ? { tags: pick([['a'], ['a', 1], []]) } : {}),
  };
}

export const FILTERS: readonly (readonly string[])[] = [
  [],
  [],
  ['country:is:DE,FR'],
  ['country:is_not:'],
  ['page:is:/'],
  ['page:contains_not:a'],
  ['page:is:/,/a', 'page:matches:/*'],
  ['event:is:signup'],
  ['event:is_not:signup'],
  ['event:is:', 'channel:is:Referral'],
  ['channel:is_not:Direct'],
  ['source:is:google', 'browser:is:Firefox'],
  ['entry:is:/', 'exit:is_not:/a'],
  ['utm_campaign:matches:c*', 'origin:is:server'],
  ['page:is:/preise\\,neu', 'city:contains:i'],
  ['done_event:is:signup'],
  ['done_event:matches_not:s*,b*', 'page:is:/a'],
  ['viewed_page:contains:a', 'event:is:buy'],
  ['viewed_page:is_not:/', 'done_event:is:buy,a\\:b', 'channel:is:Direct'],
];

export const PROPERTY_FILTERS: readonly (readonly string[])[] = [
  ['property:plan:is:pro'],
  ['property:plan:is:free,', 'country:is:DE'],
  ['property:plan:is_not:pro', 'channel:is:Direct'],
  ['property:plan:is_not:', 'property:plan:matches_not:f*'],
  ['property:item.sku:contains_not:s', 'source:is:google'],
  ['property:item.sku:matches:*', 'viewed_page:is:/'],
  ['property:absent:is_not:,x'],
];
