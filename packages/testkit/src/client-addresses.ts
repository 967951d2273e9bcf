import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { WeirClient } from './weir-client.ts';

/**
 * Client IPs that only `sendClientAddresses` sends. A search of a data folder then finds each place where Weir has stored a client IP. A test
 * must not use them in an exclusion rule or a setting, which Weir stores in plain text.
 */
const CLIENTS = ['203.0.113.77', '198.51.100.42', '2001:db8:dead:beef::77'];
const IN_CONTEXT = ['192.0.2.199', '2001:db8:feed:face::88', '203.0.113.201'];
const IN_IMPORT = ['198.51.100.213', '2001:db8:cafe:f00d::99'];
/** The texts to search for. Of an IPv6 address, only the prefix (/64) is a search text, because the prefix alone identifies the client. */
const NEEDLES = [...CLIENTS, ...IN_CONTEXT, ...IN_IMPORT].map((ip) => ip.replace(/::.*/, ''));
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

/**
 * Sends the client IPs above to every endpoint that accepts records: in the headers of a trusted proxy, in bodies, and in lines of an import.
 * All URLs contain `mark`, which Weir stores. Resolves with the number of rows that the site gets.
 */
export async function sendClientAddresses(client: WeirClient, site: string, mark: string): Promise<number> {
  const { key } = await client.createKey(site);
  const url = `https://example.com/${mark}`;
  let rows = 0;
  const expect = (status: number, answer: { readonly status: number }): void => {
    if (answer.status !== status) throw new Error(`answered ${answer.status}, not ${status}`);
  };
  for (const ip of CLIENTS) {
    const from = { 'x-forwarded-for': ip, 'x-real-ip': ip, 'user-agent': BROWSER };
    const hit = { site_id: site, visitor_id: '', session_id: '', type: 'pageview', url };
    expect(204, await client.collect(hit, from));
    expect(204, await client.collect({ ...hit, visitor_id: 'v', session_id: 's', ip, context: { ip } }, from));
    expect(202, await client.events(key, { name: 'e', url }, from));
    expect(200, await client.identify(key, { visitor_id: 'v', user_id: 'u' }, from));
    rows += 3;
  }
  for (const ip of IN_CONTEXT) {
    const escaped = `{"name":"e","url":"${url}","\\u0069p":"${ip}","context":{"ip":"${ip}"},"context":{"i\\u0070":"${ip}"}}`;
    for (const body of [
      { name: 'e', url, idempotency_key: `${mark}-${rows}`, context: { ip, user_agent: BROWSER } },
      escaped,
    ]) {
      expect(202, await client.events(key, body));
      rows += 1;
    }
    const batch = { events: [{ name: 'e', url, context: { ip } }] };
    expect(
      200,
      await client.send({ path: '/api/v1/events/batch', headers: { authorization: `Bearer ${key}` }, body: batch }),
    );
    rows += 1;
  }
  const digest = Buffer.from(mark).toString('hex').padEnd(64, '0').slice(0, 64);
  const imports = `/sites/${site}/imports`;
  const { lease } = (await client.must(200, 'POST', imports, { file_digest: digest })) as { lease: string };
  const hits = IN_IMPORT.map((ip, i) => ({
    line: i + 1,
    timestamp: 1_760_000_000_000,
    ip,
    user_agent: BROWSER,
    url,
    referrer: '',
  }));
  await client.must(200, 'POST', `${imports}/${digest}/chunks`, { lease, first_line: 1, last_line: hits.length, hits });
  return rows + hits.length;
}

/** Finds the files below a folder that contain one of the texts (default: the client IPs above). Returns `relative/path: text`. */
export function filesWith(folder: string, texts: readonly string[] = NEEDLES): string[] {
  const needles = texts.map((text) => Buffer.from(text));
  const search = (path: string): string[] => {
    const bytes = readFileSync(path);
    return needles.filter((needle) => bytes.includes(needle)).map((needle) => `${relative(folder, path)}: ${needle}`);
  };
  const walk = (path: string): string[] =>
    unlessGone(() => {
      const stat = statSync(path);
      if (stat.isDirectory()) return readdirSync(path).flatMap((name) => walk(join(path, name)));
      return stat.isFile() ? search(path) : [];
    });
  return walk(folder);
}

/** Returns nothing for a file or folder that no longer exists: engines remove files at any time. */
function unlessGone(read: () => string[]): string[] {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
