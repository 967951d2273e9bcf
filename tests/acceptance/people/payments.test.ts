import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { profileIdOf } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36';
const DOCS = join(__dirname, '../../../docs/people-and-money.md');

const weir = useWeir();
let site = '';
let key = '';
beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

const STEPS = ['visit', 'identify', 'payment'] as const;
type Step = (typeof STEPS)[number];
const ORDERS = STEPS.flatMap((first) =>
  STEPS.filter((step) => step !== first).map((second) => {
    const third = STEPS.find((step) => step !== first && step !== second) as Step;
    return [first, second, third] as const;
  }),
);
/** The ways to link a payment to a person. Each returns the fields of the payment. */
const WAYS = {
  customer: (who: string) => ({ properties: { currency: 'eur', payment_customer_id: `cus-${who}` } }),
  user: (who: string) => ({ user_id: `user-${who}`, properties: { currency: 'EUR' } }),
  visitor: (who: string) => ({ visitor_id: `visitor-${who}`, properties: { currency: 'EUR' } }),
} as const;

const PEOPLE = ORDERS.flatMap((order) =>
  (Object.keys(WAYS) as (keyof typeof WAYS)[]).map((way) => ({ who: `${way}-${order.join('-')}`, order, way })),
);

async function send(step: Step, who: string, way: keyof typeof WAYS): Promise<string> {
  const visitor_id = `visitor-${who}`;
  if (step === 'identify') {
    const identity = { visitor_id, user_id: `user-${who}`, payment_customer_id: `cus-${who}` };
    return profileIdOf(await weir.identify(key, identity));
  }
  if (step === 'visit') {
    const url = 'https://shop.example/?utm_source=news&utm_medium=email&utm_campaign=spring';
    const hit = { site_id: site, visitor_id, session_id: `session-${who}`, type: 'pageview', url };
    expect((await weir.collect(hit, { 'user-agent': CHROME })).status).toBe(204);
    return '';
  }
  for (const value of ['19.90', '-0.10']) {
    expect((await weir.events(key, { name: 'payment', value, ...WAYS[way](who) })).status).toBe(202);
  }
  return '';
}

test('the order of identify, visit and payment does not change the attribution', async () => {
  const profiles = new Map<string, string>();
  for (const at of [0, 1, 2]) {
    await Promise.all(
      PEOPLE.map(async ({ who, order, way }) => {
        const profile = await send(order[at] as Step, who, way);
        if (profile !== '') profiles.set(who, profile);
      }),
    );
  }
  await weir.settled();
  const rows = await weir.rows(
    'payments',
    site,
    2 * PEOPLE.length,
    `profile_id, visitor_id, session_id, currency, toString(amount) AS amount, channel, first_channel, last_channel,
     utm_campaign, first_utm_campaign, last_utm_campaign`,
  );
  const email = { channel: 'Email', first_channel: 'Email', last_channel: 'Email' };
  const spring = { utm_campaign: 'spring', first_utm_campaign: 'spring', last_utm_campaign: 'spring' };
  for (const { who } of PEOPLE) {
    const own = rows.filter(({ profile_id }) => profile_id === profiles.get(who));
    const wanted = (amount: string) => ({
      ...{ profile_id: profiles.get(who), visitor_id: `visitor-${who}`, session_id: `session-${who}` },
      ...{ ...email, ...spring, currency: 'EUR', amount },
    });
    expect({ who, own: own.toSorted((a, b) => (String(a.amount) < String(b.amount) ? -1 : 1)) }).toEqual({
      who,
      own: [wanted('-0.1'), wanted('19.9')],
    });
  }
});

test('sums are the exact decimal sums of the values that were sent, as numbers or as text', async () => {
  const other = await weir.createSite();
  const otherKey = (await weir.createKey(other)).key;
  const bodies = [
    ...Array.from({ length: 30 }, () => '{"name":"p","value":0.1,"properties":{"currency":"USD"}}'),
    '{"name":"p","value":12345678901234567.89,"properties":{"currency":"USD"}}',
    '{"name":"p","value":"-12345678901234567.88","properties":{"currency":"usd"}}',
  ];
  for (const body of bodies) expect((await weir.events(otherKey, body)).status).toBe(202);
  await weir.settled();
  const columns = 'currency, channel, payments, refunds, toString(paid) AS paid, toString(net) AS net, unread';
  expect(await weir.rows('payment_totals', other, 1, columns)).toEqual([
    { currency: 'USD', channel: '', payments: 31, refunds: 1, paid: '12345678901234570.89', net: '3.01', unread: 0 },
  ]);
});

describe('the queries of docs/people-and-money.md', () => {
  const queries = [...readFileSync(DOCS, 'utf8').matchAll(/```sql\n([^`]+)```/g)].map(([, query]) => query as string);

  test('the page has queries', () => expect(queries.length).toBeGreaterThan(5));
  test.each(queries)('the query runs: %s', async (query) => {
    const user = `user-${PEOPLE[0]?.who}`;
    expect(await weir.sql(query, { site, user })).not.toEqual([]);
  });
});
