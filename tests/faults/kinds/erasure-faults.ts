import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import type { WeirClient } from '@weir/testkit/weir-client';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault, Round } from '../suite/fault.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const CLIENTS = 4;
const BEFORE = 200;
const AFTER_MS = 1_000;
const WITHIN_MS = 300_000;
const NO_LIMITS = { collect: 100_000_000, events: 100_000_000, identify: 100_000_000 };

interface SentEvent {
  readonly name: string;
  readonly visitor: string;
  readonly startedAt: number;
  readonly answeredAt: number;
  readonly status: number;
}

interface Sender {
  readonly sent: readonly SentEvent[];
  stop(): Promise<void>;
}

/** Sends new events of these visitors until `stop` is called, without retries. */
function startSender(client: WeirClient, key: string, visitors: readonly string[]): Sender {
  const sent: SentEvent[] = [];
  let stopped = false;
  let count = 0;
  const sender = async (): Promise<void> => {
    while (!stopped) {
      const nth = count++;
      const visitor = visitors[nth % visitors.length] ?? '';
      const name = `${visitor}-${nth}`;
      const startedAt = Date.now();
      const { status } = await client.events(key, { name: 'seen', visitor_id: visitor, idempotency_key: name });
      sent.push({ name, visitor, startedAt, answeredAt: Date.now(), status });
    }
  };
  const running = Promise.all(Array.from({ length: CLIENTS }, sender));
  return {
    sent,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

interface Erased {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly sent: readonly SentEvent[];
  /** The number of stored rows of each event, by its name. */
  readonly stored: ReadonlyMap<string, number>;
}

/**
 * Sends events to a new site. Meanwhile calls `ask`, which requests an erasure. Resolves when the erasure is done and all accepted records are
 * processed.
 */
async function eraseUnderLoad(
  { client }: Embedded,
  { nth, over, found }: Round,
  ask: (site: string, gone: string) => Promise<unknown>,
): Promise<Erased> {
  const site = await client.createSite();
  await client.must(200, 'PATCH', `/sites/${site}`, { limits: NO_LIMITS });
  const { key } = await client.createKey(site);
  const sender = startSender(client, key, [`gone-${nth}`, `kept-${nth}`]);
  await eventually('events to be sent', () => sender.sent.length > BEFORE);
  const askedAt = Date.now();
  const { erasure_id: id } = (await ask(site, `gone-${nth}`)) as { readonly erasure_id: string };
  const answeredAt = Date.now();
  await pause(AFTER_MS); // events are sent after the erasure was asked for, so the pause is part of the test
  await sender.stop();
  await eventually(
    'the erasure to be done',
    async () => ((await client.must(200, 'GET', `/erasures/${id}`)) as { readonly phase: string }).phase === 'done',
    WITHIN_MS,
  );
  over();
  const accepted = sender.sent.filter(({ status }) => status === 202).length;
  // Each accepted record has exactly one row, in `outcomes` or in `events`, even if it was erased.
  const outcomes = (): Promise<number> =>
    client.number(
      'SELECT count() FROM (SELECT site_id FROM outcomes UNION ALL SELECT site_id FROM events) WHERE site_id = {site:String}',
      { site },
    );
  await eventually('all records to have an outcome', async () => (await outcomes()) >= accepted, WITHIN_MS);
  if ((await outcomes()) !== accepted) found(`${await outcomes()} outcomes for ${accepted} accepted events`);
  const rows = await client.sql(
    'SELECT idempotency_key AS name, count() AS n FROM events WHERE site_id = {site:String} GROUP BY name',
    { site },
  );
  return {
    askedAt,
    answeredAt,
    sent: sender.sent,
    stored: new Map(rows.map((row) => [String(row.name), Number(row.n)])),
  };
}

const FAULTS: readonly Fault<Embedded>[] = [
  {
    name: 'person-erased',
    about: 'a person is erased while events of this person and of others are sent to the site',
    open: () => openEmbedded(),
    shares: 'plain',
    async strike(broken, round) {
      const ask = (site: string, gone: string): Promise<unknown> =>
        broken.client.must(202, 'POST', `/sites/${site}/erasures`, { visitors: [gone] });
      const { askedAt, answeredAt, sent, stored } = await eraseUnderLoad(broken, round, ask);
      const report = (what: string, wrong: readonly SentEvent[]): void => {
        if (wrong[0] !== undefined) round.found(`${wrong.length} events ${what}, for example ${wrong[0].name}`);
      };
      const isGone = ({ visitor }: SentEvent): boolean => visitor.startsWith('gone');
      const accepted = sent.filter(({ status }) => status === 202);
      report(
        'got another answer than 202',
        sent.filter(({ status }) => status !== 202),
      );
      report(
        'were stored twice',
        accepted.filter(({ name }) => (stored.get(name) ?? 0) > 1),
      );
      report(
        'of the erased person are still stored',
        accepted.filter((event) => isGone(event) && event.answeredAt < askedAt && stored.has(event.name)),
      );
      report(
        'that must remain are not stored',
        accepted.filter((event) => (!isGone(event) || event.startedAt > answeredAt) && !stored.has(event.name)),
      );
    },
  },
  {
    name: 'site-deleted',
    about: 'a site is removed while events are sent to it',
    open: () => openEmbedded(),
    shares: 'plain',
    async strike(broken, round) {
      const ask = (site: string): Promise<unknown> => broken.client.must(200, 'DELETE', `/sites/${site}`);
      const { sent, stored, answeredAt } = await eraseUnderLoad(broken, round, ask);
      if (stored.size > 0) round.found(`${stored.size} events of the removed site are stored`);
      const late = sent.filter(({ startedAt, status }) => startedAt > answeredAt + AFTER_MS / 2 && status === 202);
      if (late.length > 0) round.found(`${late.length} events were accepted after the site was removed`);
      const strange = sent.find(({ status }) => status !== 202 && status !== 401);
      if (strange !== undefined) round.found(`an event got ${strange.status}, and not 202 or 401`);
    },
  },
];

export const ERASURE_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
