import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import { type Load, startLoad } from '@weir/testkit/load';
import { bearer } from '@weir/testkit/weir-client';
import { expectExactlyOnce, say } from '../faults/exactly-once.ts';
import type { Deployment } from './deployment.ts';

export const CLIENTS = 16;
const BEFORE_MIN = 300;
const AFTER_MIN = 300;
const NO_LIMITS = { collect: 100_000_000, events: 100_000_000, identify: 100_000_000 };
const SAMPLE_MS = 10;
const CONNECTIONS_TRIED = 16;

/**
 * Runs `fault` while clients send and repeat events. The clients continue until over `AFTER_MIN` further events or hits are acknowledged. Then checks
 * that each acknowledged one is stored exactly once (`expectExactlyOnce`). Prints the result and duration of the fault, and the counts of the load.
 */
export async function underLoad(
  name: string,
  weir: Deployment,
  fault: (load: Load, key: string) => Promise<unknown>,
  timeoutMs?: number,
): Promise<Load> {
  const { client } = weir;
  const site = await client.createSite();
  await client.must(200, 'PATCH', `/sites/${site}`, { limits: NO_LIMITS });
  const { key } = await client.createKey(site);
  await keyIsKnown(weir.urls, key);
  const load = startLoad({
    url: weir.urls,
    site,
    key,
    clients: CLIENTS,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const acknowledged = () => load.acknowledgedKeys.size + load.acknowledgedHits.size;
  try {
    await eventually('a load', () => acknowledged() > BEFORE_MIN);
    const watch = watchSilence(acknowledged);
    const startedAt = performance.now();
    const did = await fault(load, key);
    const took = Math.round(performance.now() - startedAt);
    const after = acknowledged();
    await eventually('the load to go on', () => acknowledged() > after + AFTER_MIN);
    say(`${name}: took ${took} ms${did === undefined ? '' : `; ${String(did)}`}`);
    say(`${name}: longest time without an acknowledgement ${watch.stop()} ms`);
  } finally {
    await load.stop();
  }
  const stoppedAt = performance.now();
  await client.settled(300_000);
  say(
    `${name}: ${load.acknowledgedKeys.size} events, ${load.acknowledgedHits.size} hits, ${load.retries()} repeated; ` +
      `all stored ${Math.round(performance.now() - stoppedAt)} ms after the last`,
  );
  const [dropped] = await client.sql(
    "SELECT countIf(outcome = 'duplicate') AS duplicates FROM outcomes WHERE site_id = {site:String}",
    { site },
  );
  say(`${name}: ${dropped?.duplicates} duplicates found by the enricher`);
  await expectExactlyOnce(weir, site, load);
  return load;
}

/**
 * Waits until all gateway processes know the key. On a busy machine, this takes longer than a second. Each new connection to a gateway can reach
 * another of its processes, so several connections are tried.
 */
async function keyIsKnown(urls: readonly string[], key: string): Promise<void> {
  const requests = Array.from({ length: CONNECTIONS_TRIED }, () => urls).flat();
  await eventually('all gateways know the key', async () => {
    const refused = { path: '/api/v1/events', body: '{}', headers: bearer(key) };
    const answers = await Promise.all(requests.map((url) => sendHttp(url, refused)));
    return answers.every(({ status }) => status === 400);
  });
}

function watchSilence(count: () => number) {
  let longest = 0;
  let last = count();
  let since = performance.now();
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - since);
    if (count() === last) return;
    last = count();
    since = now;
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      look();
      return Math.round(longest);
    },
  };
}
