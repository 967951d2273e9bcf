import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { type RefusingProxy, startRefusingProxy } from './refusing-proxy.ts';

/** Two proxies in front of a ClickHouse: one disturbs connections, the other one disturbs inserts. */
export interface ClickhouseProxies {
  /** The URL of ClickHouse through both proxies, with the user and the password. */
  readonly url: string;
  readonly proxy: FaultyProxy;
  readonly http: RefusingProxy;
  /** Runs a statement in ClickHouse directly, without the proxies. Resolves with the text of the answer. */
  statement(sql: string): Promise<string>;
  close(): Promise<void>;
}

/** `target`: the URL of ClickHouse, with the user and the password. */
export async function startClickhouseProxies(target: string): Promise<ClickhouseProxies> {
  const { origin, username, password } = new URL(target);
  const http = await startRefusingProxy(origin);
  const proxy = await startFaultyProxy(Number(new URL(http.url).port));
  return {
    ...{ proxy, http, url: `http://${username}:${password}@127.0.0.1:${proxy.port}` },
    async statement(sql) {
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      const answer = await fetch(origin, { method: 'POST', body: sql, headers: { authorization } });
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
      return text;
    },
    async close() {
      await proxy.close();
      await http.close();
    },
  };
}
