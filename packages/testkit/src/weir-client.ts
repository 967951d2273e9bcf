import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import { type HttpAnswer, type HttpRequest, sendHttp } from './http-client.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface TestKey {
  readonly keyId: string;
  readonly key: string;
}

/**
 * How long tests wait for a gateway that answers 503 or has not read a change yet. docs/api.md promises shorter times, which other tests
 * check.
 */
const DEPLOYMENT_WITHIN_MS = 120_000;

export type WeirClient = ReturnType<typeof createWeirClient>;

/**
 * A client that uses a Weir only over HTTP. With several gateways, requests go to each in turn, and those of the admin API to the
 * first. An event log over the network (`isPatient`, default with several gateways) can be slow for a moment. So the client then retries a
 * 503 with `Retry-After`, as docs/api.md requires of every client, but for at most 120 s. It does not retry a 503 of an embedded log.
 */
export function createWeirClient(urls: readonly string[], adminToken: string, isPatient = urls.length > 1) {
  let turn = 0;
  const ask = isPatient ? sendPatiently : sendHttp;
  const send = (request: HttpRequest): Promise<HttpAnswer> => ask(urls[turn++ % urls.length] ?? '', request);

  const admin = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
    ask(urls[0] ?? '', {
      method,
      path: `/api/admin${path}`,
      headers: { authorization: `Bearer ${adminToken}` },
      body,
    });

  const must = async (status: number, method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await admin(method, path, body);
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return (answer.json as { data?: unknown } | undefined)?.data;
  };

  /** Resolves when each gateway has answered this request as expected. */
  const everywhere = async (
    what: string,
    request: HttpRequest,
    holds: (answer: HttpAnswer) => boolean,
  ): Promise<void> => {
    for (const url of urls) {
      await eventually(`${url}: ${what}`, async () => holds(await sendHttp(url, request)), DEPLOYMENT_WITHIN_MS);
    }
  };
  const keyKnown = (key: string): Promise<void> =>
    everywhere('the key is known', probe(key), ({ status }) => status !== 401);
  const keyRefused = (key: string): Promise<void> =>
    everywhere('the key is refused', probe(key), ({ status }) => status === 401);

  const createKey = async (siteId: string, fields: object = {}): Promise<TestKey> => {
    const body = { name: 'test', scopes: ['events:write', 'identify:write'], ...fields };
    const made = (await must(201, 'POST', `/sites/${siteId}/keys`, body)) as { key_id: string; key: string };
    if (urls.length > 1) await keyKnown(made.key);
    return { keyId: made.key_id, key: made.key };
  };

  /** Creates a site for one test. Every gateway knows it when this resolves. */
  const createSite = async (fields: object = {}): Promise<string> => {
    const site = (await must(201, 'POST', '/sites', { name: 'Test', domain: 'example.com', ...fields })) as {
      site_id: string;
    };
    if (urls.length > 1) await createKey(site.site_id, { name: 'probe' });
    return site.site_id;
  };

  /** Creates a site for one test, and an API key of it. Every gateway knows both when this resolves. */
  const createSiteWithKey = async (fields: object = {}): Promise<TestKey & { readonly site: string }> => {
    const site = await createSite(fields);
    return { site, ...(await createKey(site)) };
  };

  const sql = async (query: string, params?: object): Promise<readonly Row[]> => {
    const data = (await must(200, 'POST', '/sql', params === undefined ? { query } : { query, params })) as {
      rows: readonly Row[];
    };
    return data.rows;
  };

  const number = async (query: string, params?: object): Promise<number> =>
    Number(Object.values((await sql(query, params))[0] ?? {})[0]);

  /** Resolves with the rows of a site in a table, as soon as there are at least `count` of them. */
  const rows = (table: string, siteId: string, count: number, columns = '*'): Promise<readonly Row[]> => {
    const query = `SELECT ${columns} FROM ${table} WHERE site_id = {site:String} LIMIT 100000`;
    return eventually(`${count} rows of ${siteId} in ${table}`, async () => {
      const found = await sql(query, { site: siteId });
      if (found.length < count) throw new Error(`${table} has ${found.length} rows of the site, not ${count}`);
      return found;
    });
  };

  /** The lag of each consumer and partition, in records. */
  const readLags = async (): Promise<readonly number[]> => lagsOf(await must(200, 'GET', '/pipeline'));

  /** Resolves when no record is in flight: every lag of the pipeline is 0, twice in a row. */
  const settled = async (withinMs = 150_000): Promise<void> => {
    let quiet = 0;
    await eventually(
      'every lag of the pipeline is 0',
      async () => {
        const lags = await readLags();
        if (lags.length === 0) throw new Error('GET /api/admin/pipeline contains no lag');
        quiet = lags.every((lag) => lag === 0) ? quiet + 1 : 0;
        return quiet >= 2;
      },
      withinMs,
    );
  };

  /** Sends a batch of server events. Rejects if the answer is not 200. */
  const sendBatch = async (key: string, events: readonly unknown[]): Promise<void> => {
    const answer = await send({ path: '/api/v1/events/batch', headers: bearer(key), body: { events } });
    if (answer.status !== 200) throw new Error(`a batch was answered with ${answer.status} ${answer.text}`);
  };

  const audit = (): Promise<readonly Row[]> => sql(AUDIT);
  /**
   * Repeats the audit until it finds nothing: it reads `records` twice, so a record that another test stores in between looks like a
   * fault.
   */
  const balanced = (): Promise<boolean> =>
    eventually('the audit finds nothing', async () => {
      const faults = await audit();
      if (faults.length > 0) throw new Error(`the audit found ${JSON.stringify(faults)}`);
      return true;
    });

  return {
    urls,
    adminToken,
    send,
    admin,
    must,
    everywhere,
    keyKnown,
    keyRefused,
    createSite,
    createKey,
    createSiteWithKey,
    sql,
    number,
    rows,
    lags: readLags,
    settled,
    events: (key: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> =>
      send({ path: '/api/v1/events', headers: { ...bearer(key), ...headers }, body }),
    sendBatch,
    identify: (key: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> =>
      send({ path: '/api/identify', headers: { ...bearer(key), ...headers }, body }),
    collect: (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> =>
      send({ path: '/api/collect', headers, body }),
    audit,
    balanced,
  };
}

export function bearer(key: string): { readonly authorization: string } {
  return { authorization: `Bearer ${key}` };
}

/** An event without a name. The answer shows whether the key is valid, and nothing is stored. */
function probe(key: string): HttpRequest {
  return { path: '/api/v1/events', headers: bearer(key), body: {} };
}

/** Retries while the answer is a 503 with `Retry-After`. Resolves with the last answer. */
async function sendPatiently(url: string, request: HttpRequest): Promise<HttpAnswer> {
  const deadline = Date.now() + DEPLOYMENT_WITHIN_MS;
  for (;;) {
    const answer = await sendHttp(url, request);
    const seconds = answer.status === 503 ? Number(answer.headers['retry-after']) : Number.NaN;
    if (Number.isNaN(seconds) || Date.now() + seconds * 1000 > deadline) return answer;
    await pause(seconds * 1000);
  }
}

/**
 * `events` and `outcomes` together contain each raw offset exactly once (docs/tables.md, `outcomes`). Each row that this query returns is a
 * fault.
 */
const AUDIT = `
  SELECT log_id, raw_partition, count() AS found, uniqExact(raw_offset) AS offsets, max(raw_offset) + 1 AS expected
  FROM (SELECT log_id, raw_partition, raw_offset FROM events UNION ALL SELECT log_id, raw_partition, raw_offset FROM outcomes)
  GROUP BY log_id, raw_partition
  HAVING found != expected OR offsets != expected`;

function lagsOf(data: unknown): number[] {
  if (Array.isArray(data)) return data.flatMap(lagsOf);
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([name, value]) => (name === 'lag' ? [Number(value)] : lagsOf(value)));
}
