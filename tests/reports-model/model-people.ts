import { attributed, decimal } from '../../packages/adapters/test/clickhouse/payments-model.ts';
import { type Act, expectedProfiles, ownerOf } from '../../packages/adapters/test/clickhouse/people-model.ts';
import { paymentOf } from './model-payments.ts';
import type { Model, ModelRow } from './model-rows.ts';
import type { Identify } from './sent-history.ts';

/**
 * The expected content of the tables of a site, computed by the rules of docs/tables.md and docs/people-and-money.md. Times are Unix
 * milliseconds. Rows are in the order of their times.
 */
export function expectedTables(model: Model): object {
  const { history, rows, visits, dropped } = model;
  const identifies = history.sent.filter((sent): sent is Identify => sent.kind === 'identify');
  const acts = [...identifies.map(identifyAct), ...rows.filter(({ bot }) => bot === '').map(eventAct)];
  const byTime = rows.toSorted((a, b) => a.at - b.at);
  return {
    events: inOrder(
      rows.map((row) => ({
        at: row.at,
        event_name: row.name,
        pathname: row.values.page,
        source: row.origin,
        bot: row.bot,
        user: ownerOf(acts, eventAct(row)).slice('p-'.length),
      })),
    ),
    visitors: groupsOf(byTime.map(({ visitor, at }) => [visitor, at])),
    // Visits of bots are left out, because the table `sessions` does not contain them.
    visits: groupsOf(
      byTime.filter(({ bot, session }) => bot === '' && visits.has(session)).map(({ session, at }) => [session, at]),
    ),
    sessions: [...visits.values()]
      .toSorted((a, b) => a.start - b.start)
      .map(({ values, ...visit }) => ({
        ...{ started: visit.start, ended: visit.end, duration_seconds: visit.seconds },
        ...{ pageviews: visit.pageviews, events: visit.events, is_bounce: visit.isBounce },
        ...{ entry_path: values.entry, exit_path: values.exit, channel: values.channel, traffic_source: values.source },
        ...{
          referrer_domain: values.referrer,
          utm_campaign: values.utm_campaign ?? '',
          utm_term: values.utm_term ?? '',
        },
        ...{
          country: values.country,
          city: values.city,
          browser: values.browser,
          os: values.os,
          device_type: values.device,
        },
      })),
    profiles: expectedProfiles(acts).map((profile) => {
      const { user_id, visitor_ids, first, last } = profile as Readonly<Record<string, unknown>>;
      return { user_id, visitor_ids, first, last };
    }),
    payments: inOrder(rows.flatMap((row) => attributedPayment(model, identifies, row))),
    outcomes: [
      ...(dropped.length === 0 ? [] : [{ outcome: 'dropped', reason: 'excluded_path', records: dropped.length }]),
      ...(identifies.length === 0 ? [] : [{ outcome: 'identify', reason: '', records: identifies.length }]),
    ],
  };
}

/** The rows in the order of their times. Rows with the same time are in the order of their other values. */
export function inOrder<Row extends { readonly at: unknown }>(rows: readonly Row[]): readonly Row[] {
  const key = (row: Row): string => JSON.stringify([row.at, ...Object.entries(row).toSorted()]);
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/**
 * Groups the times of rows by ID. The result has only the groups, without the IDs, because the model does not know the IDs that Weir makes. `none`:
 * the times of rows without an ID.
 */
export function groupsOf(pairs: readonly (readonly [id: string, at: number])[]): object {
  const groups = new Map<string, number[]>();
  for (const [id, at] of pairs) groups.set(id, [...(groups.get(id) ?? []), at]);
  const none = groups.get('') ?? [];
  groups.delete('');
  return { none, groups: [...groups.values()].toSorted((a, b) => (String(a) < String(b) ? -1 : 1)) };
}

const NOTHING_SAID = { names: undefined, ahead: 0, email: undefined, plan: undefined } as const;

function identifyAct({ visitor, user, at, byServer }: Identify): Act {
  return { ...NOTHING_SAID, kind: 'identify', visitor, user, at, id: String(at), by: byServer ? 'server' : 'browser' };
}

function eventAct({ visitor, user, at, receivedAt }: ModelRow): Act {
  const names = user === '' ? undefined : user;
  return {
    ...NOTHING_SAID,
    kind: 'event',
    visitor,
    user: '',
    names,
    at: receivedAt,
    ahead: at - receivedAt,
    id: String(at),
    by: 'server',
  };
}

/** The expected attribution of a payment. It uses the visitor and the session that the server sent, not those that Weir found. */
function attributedPayment(
  { visits }: Model,
  identifies: readonly Identify[],
  row: ModelRow,
): { readonly at: number }[] {
  const { sent, at } = row;
  const payment = paymentOf(row);
  if (payment === undefined || sent.kind !== 'server') return [];
  const { currency, customer, units } = payment;
  const story = {
    visits: [...visits.values()].map(({ session, visitor, start, values }) => ({
      ...{ session, visitor, at: start, channel: values.channel ?? '' },
    })),
    namings: identifies.map(({ visitor, user, customer, at: time, byServer }) => ({
      ...{ visitor, user, customer, at: time, id: String(time), byServer },
    })),
    payments: [],
    order: [],
  };
  const paid = attributed(story, {
    ...{ id: '', at, user: sent.user, visitor: sent.visitor, session: sent.session },
    ...{ customer, currency, amount: sent.amount, asNumber: sent.isNumber },
  }) as Readonly<Record<string, string>>;
  const { profile_id = '', channel, first_channel, last_channel } = paid;
  return [
    {
      ...{ at, currency, amount: units === undefined ? '' : decimal(units) },
      ...{ user: profile_id.slice('p-'.length), channel, first_channel, last_channel },
    },
  ];
}
