import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { seededRandom } from '@weir/testkit/load';
import { auditSent } from './audit-sent.ts';
import type { Fault, FaultResult, Round, Subject } from './fault.ts';
import { borrow, giveBack } from './shared-subjects.ts';
import { startVisitorLoad, type VisitorLoad } from './visitor-load.ts';

export interface RunOptions {
  readonly rounds: number;
  readonly seed: number;
  /** How many clients send at the same time. */
  readonly clients: number;
  readonly short: boolean;
}

const BEFORE_MIN = 100;
const BETWEEN_MS = 1_000;
/** The pause between two queries for a new event. With shorter pauses, the queries would use more CPU than the load. */
const PROBE_EVERY_MS = 250;
const RECOVERS_WITHIN_MS = 120_000;
const SETTLES_WITHIN_MS = 180_000;
const NO_LIMITS = { collect: 100_000_000, events: 100_000_000, identify: 100_000_000 };

/** The messages of errors begin with this text if the error happens after Weir has started and the load has begun. */
export const NOT_RECOVERED = 'Weir did not recover: ';

/** Makes a fault happen in several rounds under load. Then compares all sent records with all stored rows. */
export async function runFault<Broken extends Subject>(
  fault: Fault<Broken>,
  options: RunOptions,
): Promise<FaultResult> {
  const random = seededRandom(options.seed);
  const { clients } = options;
  const broken = await borrow(fault);
  let load: VisitorLoad | undefined;
  try {
    const { client } = broken;
    const site = await client.createSite();
    await client.must(200, 'PATCH', `/sites/${site}`, { limits: NO_LIMITS });
    const { key } = await client.createKey(site);
    load = startVisitorLoad({
      ...{ urls: broken.urls, site, key, clients, random: seededRandom(options.seed + 1) },
      sendsKeysAgain: fault.sendsKeysAgain ?? true,
    });
    const running = load;
    await eventually('a load', () => running.acknowledged() > BEFORE_MIN);
    const recoveryMs: number[] = [];
    const defects: string[] = [];
    let deadLetters = 0;
    for (let nth = 0; nth < options.rounds; nth++) {
      await pause(random() * BETWEEN_MS); // the fault happens at a random moment, so the pause is part of the test
      let overAt: number | undefined;
      const round: Round = {
        ...{ nth, random, load, site, key, short: options.short },
        over: () => {
          overAt ??= performance.now();
        },
        found: (defect) => void defects.push(defect),
        expectDeadLetters: (count) => {
          deadLetters += count;
        },
      };
      await fault.strike(broken, round);
      round.over();
      await recovers(broken, site, load);
      recoveryMs.push(performance.now() - (overAt ?? 0));
    }
    await load.stop();
    await client.settled(SETTLES_WITHIN_MS);
    const audit = await auditSent(broken, site, load.sent, {
      deadLetters,
      forgetsVisits: fault.forgetsVisits ?? false,
    });
    const more = (await fault.findings?.(broken)) ?? [];
    const findings = [...load.strange.slice(0, 5), ...defects, ...audit.findings, ...more];
    await (findings.length === 0 ? giveBack(fault, broken) : broken.close());
    return {
      name: fault.name,
      about: fault.about,
      rounds: options.rounds,
      clients,
      ...audit,
      recoveryMs,
      saw: load.saw,
      findings,
    };
  } catch (error) {
    load?.abandon();
    await broken.close().catch(() => undefined);
    if (load === undefined) throw error;
    throw new Error(`${NOT_RECOVERED}${(error as Error).message}`, { cause: error });
  }
}

/** Resolves when a new event was acknowledged and can be queried. */
async function recovers({ client }: Subject, site: string, load: VisitorLoad): Promise<void> {
  const probe = await Promise.race([load.probe(), recoveryTimeout()]);
  await eventually(
    'a new event to be stored',
    async () => {
      await pause(PROBE_EVERY_MS);
      const query = 'SELECT count() FROM events WHERE site_id = {site:String} AND idempotency_key = {probe:String}';
      return (await client.number(query, { site, probe })) > 0;
    },
    RECOVERS_WITHIN_MS,
  );
}

/** Rejects after `RECOVERS_WITHIN_MS`. `VisitorLoad.probe` alone would never end if Weir has ended: it repeats its event until it is acknowledged. */
async function recoveryTimeout(): Promise<never> {
  await pause(RECOVERS_WITHIN_MS, undefined, { ref: false });
  throw new Error(`no new event was acknowledged within ${RECOVERS_WITHIN_MS / 1000} s`);
}
