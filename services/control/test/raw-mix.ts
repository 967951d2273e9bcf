import { randomBytes } from 'node:crypto';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import type { ReplayHarness } from './replay-harness.ts';

const BROWSERS = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
];
const REFERRERS = ['https://www.google.com/', 'https://chatgpt.com/', 'https://news.example/a', ''];
const MINUTE_MS = 60_000;
const EVERY = 12;

/**
 * Appends the records of one moment:
 * - hits with and without a visitor ID, of browsers and a bot, from several addresses and referrers
 * - lines of an access log in any order
 * - identify records, and events without a visitor ID whose user is linked to a visitor
 * - payments, an unlink, repeated idempotency keys in several partitions, and a record that cannot be read
 */
export function createRawMix(weir: ReplayHarness) {
  const sealer = createAddressSealer({ registry: weir.registry, randomBytes });
  let moment = 0;

  return async function mix(): Promise<void> {
    const now = moment++;
    for (let i = 0; i < EVERY; i++) {
      const site = i % 3 === 0 ? 'blog' : 'shop';
      const referrer = REFERRERS[(now + i) % REFERRERS.length];
      const head = { userAgent: BROWSERS[i % 3], sealedIp: await sealer.seal(`81.2.69.${i}`, weir.clock()) };
      const url = `https://${site}.example/${now}/${i}${i % 2 === 0 ? '?utm_source=s' : ''}`;
      const page = { site_id: site, type: 'pageview', url, referrer };
      await weir.append(`c${i}`, 'collect', site, { ...page, visitor_id: '', session_id: '' }, head);
      const visit = { visitor_id: `v${i}`, session_id: `s${i}-${Math.floor(now / 3)}` };
      await weir.append(`v${i}`, 'collect', site, { ...page, ...visit }, head);
      const user = { user_id: `u${i % 5}`, visitor_id: `v${i}` };
      if ((now + i) % 4 === 0) await weir.append(user.user_id, 'identify', site, { ...user, now }, head);
      if ((now + i) % 11 === 0) await weir.append(user.user_id, 'unlink', site, user);
      const line = { url, referrer, timestamp: weir.clock() - ((now * 7 + i * 13) % 50) * 2 * MINUTE_MS };
      await weir.append(`c${i}`, 'import', site, line, head);
      const paid = { event_name: 'paid', user_id: user.user_id, value: i + 0.5, properties: { currency: 'EUR' } };
      await weir.append(user.user_id, 'event', site, paid, head);
      const once = { event_name: 'once', idempotency_key: `k${now % 3}-${i % 4}`, visitor_id: `v${i}` };
      await weir.append(`v${i}`, 'event', site, once, head);
    }
    await weir.append('none', 'collect', 'shop', { type: 'pageview' });
    await weir.settled();
  };
}
