import fc from 'fast-check';
import { batch, identify, type RowFields, T0, useClickhouse } from './clickhouse-harness.ts';
import { attributed, decimal, rowsOf, story, unitsOf } from './payments-model.ts';

let next = 0;
const opened = useClickhouse();

async function insert(...rows: readonly RowFields[]): Promise<void> {
  const planned = batch(next, rows);
  next += rows.length;
  await opened.analytics.insertRecords(planned);
  await opened.analytics.insertRecords(planned);
}
const query = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await opened.analytics.userQuery(sql, {})).rows;
const payment = (site: string, fields: RowFields): RowFields => ({
  ...{ site_id: site, source: 'server', type: 'event', event_name: 'payment' },
  ...fields,
});

test('any order of identify, visit and payment gives the same attribution and the sums that were sent', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      // One run stores and compares many sites together, which is faster. If the test fails, the same seed generates the same sites again.
      const stories = fc.sample(story, { seed, numRuns: 100 }).map((told, at) => ({ site: `r${run}-${at}`, told }));
      const mine = `site_id LIKE 'r${run}-%'`;
      run += 1;
      const rows = stories.map(({ site, told }) => rowsOf(site, told));
      for (const part of [0, 1, 2]) await insert(...rows.flatMap((of) => of.filter((_, at) => at % 3 === part)));

      const found = await query(
        `SELECT site_id, event_id, currency, toString(amount) AS amount, profile_id, session_id, channel, first_channel,
           first_utm_source, last_channel, last_utm_source
         FROM payments WHERE ${mine} ORDER BY event_id`,
      );
      for (const { site, told } of stories) {
        const wanted = told.payments.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((paid) => attributed(told, paid));
        const got = found.filter((row) => row.site_id === site).map(({ site_id, ...row }) => row);
        expect({ told, payments: got }).toEqual({ told, payments: wanted });
      }
      const sent = stories.flatMap(({ told }) => told.payments);
      const sum = (units: readonly bigint[]): string => decimal(units.reduce((total, unit) => total + unit, 0n));
      const totals = ['EUR', 'JPY'].map((currency) => {
        const own = sent
          .filter((paid) => paid.currency.toUpperCase() === currency)
          .map(({ amount }) => unitsOf(amount));
        return {
          currency,
          paid: sum(own.filter((units) => units >= 0n)),
          refunded: sum(own.filter((units) => units < 0n)),
          net: sum(own),
          count: own.length,
          unread: 0,
        };
      });
      expect(
        await query(
          `SELECT currency, toString(sum(t.paid)) AS paid, toString(sum(t.refunded)) AS refunded, toString(sum(t.net)) AS net,
             sum(payments) + sum(refunds) AS count, sum(t.unread) AS unread
           FROM payment_totals AS t WHERE ${mine} GROUP BY currency ORDER BY currency`,
        ),
      ).toEqual(totals);
    }),
    { numRuns: 2 },
  );
});

describe('amounts', () => {
  const read = async (site: string): Promise<unknown> =>
    (
      await query(
        `SELECT amount_text, toString(amount) AS amount FROM payments WHERE site_id = '${site}' ORDER BY event_id`,
      )
    ).map(({ amount_text, amount }) => [amount_text, amount]);
  const eur = { properties: { currency: 'EUR' } };

  test('are exact decimals, not rounded Float64 values', async () => {
    const sent = ['0.1', '0.2', '-0.30', '12345678901234567890.123456789012345678', '+5', '.5', '5.', '007.10'];
    await insert(...sent.map((text) => payment('exact', { ...eur, value: Number(text), value_text: text })));
    await insert(
      payment('exact', { ...eur, value: Number('12345678901234567.89'), detail: '{"number":"12345678901234567.89"}' }),
      payment('exact', { ...eur, value: 1e-7 }),
      payment('exact', { ...eur, value: -1234.5 }),
    );
    expect(await read('exact')).toEqual([
      ['0.1', '0.1'],
      ['0.2', '0.2'],
      ['-0.30', '-0.3'],
      ['12345678901234567890.123456789012345678', '12345678901234567890.123456789012345678'],
      ['+5', '5'],
      ['.5', '0.5'],
      ['5.', '5'],
      ['007.10', '7.1'],
      ['12345678901234567.89', '12345678901234567.89'],
      ['1e-7', '0.0000001'],
      ['-1234.5', '-1234.5'],
    ]);
  });

  test('that cannot be read as a decimal are listed and counted, but not summed', async () => {
    const sent: RowFields[] = [
      { value: null, value_text: '5 EUR' },
      { value: 1, value_text: '1.0000000000000000001' },
      { value: 1e21, value_text: '1000000000000000000000' },
      { value: 1e300, value_text: '' },
      { value: 1.5e-19, value_text: '' },
    ];
    await insert(...sent.map((fields) => payment('unread', { ...eur, ...fields })));
    await insert(payment('unread', { ...eur, value: 3 }));
    expect(((await read('unread')) as unknown[][]).map(([, amount]) => amount)).toEqual([
      null,
      null,
      null,
      null,
      null,
      '3',
    ]);
    expect(
      await query("SELECT toString(net) AS net, payments, unread FROM payment_totals WHERE site_id = 'unread'"),
    ).toEqual([{ net: '3', payments: 1, unread: 5 }]);
  });

  test('an event without a value, without currency and customer, or not from a server is not a payment', async () => {
    await insert(
      payment('none', { value: null, ...eur }),
      payment('none', { value: 3, properties: { plan: 'pro' } }),
      payment('none', { value: 3, ...eur, source: 'collect' }),
    );
    expect(await read('none')).toEqual([]);
  });
});

test('a visitor or session that the enricher added to a server event is not used for attribution', async () => {
  const at = (second: number) => T0 + second * 1000;
  const visit = { site_id: 'found', visitor_id: 'v1', channel: 'Email' };
  const found = { user_visitor: true, visit_session: true };
  await insert(
    { ...visit, session_id: 's1', timestamp: at(0) },
    { ...visit, visitor_id: 'v2', session_id: 's2', timestamp: at(5), channel: 'Display' },
    identify({ profile_id: 'p-a', user_id: 'a' }, { site_id: 'found', visitor_id: 'v2', received_at: at(9) }),
    payment('found', {
      ...{
        visitor_id: 'v1',
        session_id: 's1',
        user_id: 'a',
        value: 1,
        timestamp: at(8),
        detail: JSON.stringify(found),
      },
      properties: { currency: 'EUR' },
    }),
  );
  expect(
    await query(
      "SELECT profile_id, visitor_id, session_id, visit_found, channel FROM payments WHERE site_id = 'found'",
    ),
  ).toEqual([{ profile_id: 'p-a', visitor_id: 'v2', session_id: 's2', visit_found: 'before', channel: 'Display' }]);
});
