import fc from 'fast-check';
import { identify, type RowFields, T0 } from './clickhouse-harness.ts';
import { type Act, belongedTo } from './people-model.ts';

// A model of the rules in docs/people-and-money.md, without SQL. It generates visits, identify records and payments of one site, and computes the
// expected attribution.

interface Visit {
  readonly session: string;
  readonly visitor: string;
  readonly at: number;
  readonly channel: string;
}
interface Naming {
  readonly visitor: string;
  readonly user: string;
  readonly customer: string;
  readonly at: number;
  readonly id: string;
  readonly byServer: boolean;
}
export interface Payment {
  readonly id: string;
  readonly at: number;
  readonly customer: string;
  readonly user: string;
  readonly visitor: string;
  readonly session: string;
  readonly currency: string;
  /** The amount as it was sent. */
  readonly amount: string;
  readonly asNumber: boolean;
}
interface Story {
  readonly visits: readonly Visit[];
  readonly namings: readonly Naming[];
  readonly payments: readonly Payment[];
  /** The order in which the rows arrive, as indexes into the list of all visits, namings (identify records) and payments. */
  readonly order: readonly number[];
}

const at = fc.integer({ min: 0, max: 40 }).map((second) => T0 + second * 1000);
const visitor = fc.constantFrom('v1', 'v1', 'v2', 'v3');
const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 4 }))
  .map(([units, places]) => decimal(units * 10n ** BigInt(18 - places)));

const visits = fc.array(
  fc.record({ visitor, at, channel: fc.constantFrom('Direct', 'Direct', 'Email', 'Display', 'Organic Search') }),
  {
    minLength: 1,
    maxLength: 6,
  },
);
const namings = fc.array(
  fc.record({
    visitor,
    user: fc.constantFrom('a', 'b'),
    customer: fc.constantFrom('', 'c1', 'c2'),
    at,
    id: fc.uuid(),
    byServer: fc.boolean(),
  }),
  { maxLength: 4 },
);
const payments = fc.array(
  fc.record({
    id: fc.uuid(),
    at,
    customer: fc.constantFrom('', 'c1', 'c2', 'stranger'),
    user: fc.constantFrom('', '', 'a', 'b'),
    visitor: fc.constantFrom('', '', 'v1', 'v2', 'v9'),
    session: fc.constantFrom('', '', '', 's0', 's1', 'elsewhere'),
    currency: fc.constantFrom('EUR', 'jpy'),
    amount,
    asNumber: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

export const story: fc.Arbitrary<Story> = fc.tuple(visits, namings, payments).chain(([sent, named, paid]) => {
  const all = Array.from({ length: sent.length + named.length + paid.length }, (_, index) => index);
  return fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }).map((order) => ({
    visits: sent.map((visit, index) => ({ ...visit, session: `s${index}` })),
    namings: named,
    payments: paid,
    order,
  }));
});

/** Writes a number of 10^-18 units as a decimal, with up to 18 digits after the point. */
export function decimal(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(19, '0');
  const text = `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '');
  return units < 0n ? `-${text}` : text;
}
export function unitsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const units = BigInt(whole + fraction.padEnd(18, '0'));
  return text.startsWith('-') ? -units : units;
}

export function rowsOf(site: string, { visits, namings, payments, order }: Story): readonly RowFields[] {
  const rows: RowFields[] = [
    ...visits.map(({ session, visitor: visitor_id, at: timestamp, channel }) => ({
      site_id: site,
      visitor_id,
      session_id: session,
      timestamp,
      channel,
      utm_source: `utm-${session}`,
    })),
    ...namings.map(({ visitor: visitor_id, user, customer, at: received_at, id: event_id, byServer }) =>
      identify(
        { profile_id: `p-${user}`, user_id: user, ...(customer === '' ? {} : { payment_customer_id: customer }) },
        { site_id: site, visitor_id, received_at, event_id, source: byServer ? 'server' : 'collect' },
      ),
    ),
    ...payments.map((paid) => ({
      site_id: site,
      event_id: paid.id,
      source: 'server',
      type: 'event',
      event_name: 'payment',
      timestamp: paid.at,
      user_id: paid.user,
      visitor_id: paid.visitor,
      session_id: paid.session,
      value: Number(paid.amount),
      value_text: paid.asNumber ? '' : paid.amount,
      properties: { currency: paid.currency, ...(paid.customer === '' ? {} : { payment_customer_id: paid.customer }) },
    })),
  ];
  return order.map((index) => rows[index] as RowFields);
}

/** The expected attribution of a payment, by the rules in docs/people-and-money.md, "Payments". */
export function attributed({ visits, namings }: Story, paid: Payment): object {
  const acts = namings.map(
    (one): Act => ({
      ...one,
      kind: 'identify',
      email: undefined,
      names: undefined,
      ahead: 0,
      plan: undefined,
      by: 'browser',
    }),
  );
  const inTime = <T extends { readonly at: number }>(all: readonly T[], id: (one: T) => string): T[] =>
    all.toSorted((a, b) => a.at - b.at || (id(a) < id(b) ? -1 : 1));
  const links = inTime(namings, ({ id }) => id).filter((one) => one.customer !== '' && one.customer === paid.customer);
  // If a server has linked the payment customer to a user, a link that a browser sends does not count.
  const customer = links.findLast(({ byServer }) => byServer) ?? links.at(-1);
  const own = paid.visitor || (visits.find(({ session }) => session === paid.session)?.visitor ?? '');
  const known = namings.some(({ user }) => user === paid.user);
  const profile = customer ? `p-${customer.user}` : known ? `p-${paid.user}` : belongedTo(acts, own, paid.at);

  const sorted = inTime(visits, ({ session }) => session);
  const ofVisitor = sorted.filter((visit) => visit.visitor === own);
  const ofPerson = sorted.filter((visit) => profile !== '' && belongedTo(acts, visit.visitor, visit.at) === profile);
  const all = ofPerson.length > 0 ? ofPerson : ofVisitor;
  const until = (list: readonly Visit[]): readonly Visit[] => list.filter((visit) => visit.at <= paid.at);
  const visit =
    visits.find(({ session }) => session === paid.session) ??
    until(ofVisitor).at(-1) ??
    until(ofPerson).at(-1) ??
    ofVisitor[0] ??
    ofPerson[0];
  const first = all[0];
  const last = until(all).findLast(({ channel }) => channel !== 'Direct') ?? visit;
  return {
    event_id: paid.id,
    currency: paid.currency.toUpperCase(),
    amount: paid.amount,
    profile_id: profile,
    session_id: visit?.session ?? '',
    channel: visit?.channel ?? '',
    first_channel: first?.channel ?? '',
    first_utm_source: first === undefined ? '' : `utm-${first.session}`,
    last_channel: last?.channel ?? '',
    last_utm_source: last === undefined ? '' : `utm-${last.session}`,
  };
}
