import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAccessLog } from '@weir/testkit/sample-access-log';
import { cli } from '../../services/cli/test/cli-harness.ts';
import type { Lane, Lanes } from '../reports-model/report-lanes.ts';

/** The part of a mark that a URL does not escape. A URL escapes other characters of the mark. */
export const scriptOf = (field: string): string => `onerror=hacked('${field}')`;
/**
 * Returns a text with markup and a script. If a page treats the text as HTML, it calls `hacked`. `field` is the name of the field that contains
 * the text.
 */
export const mark = (field: string): string => `"'><img src=x ${scriptOf(field)}><script>hacked()</script>${field}`;

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';
export const USER_ID = mark('user');

/** A hit whose texts are all markup. */
export function markedHit(siteId: string, more: object = {}): object {
  const tags = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];
  return {
    ...{
      site_id: siteId,
      visitor_id: "<b onclick='hacked()'>v",
      session_id: "<b onclick='hacked()'>s",
      type: 'pageview',
    },
    ...{ pathname: `/${mark('path')}`, hostname: mark('host') },
    ...{ referrer: `https://from.example/${mark('referrer')}`, language: mark('language'), timezone: mark('zone') },
    ...Object.fromEntries(tags.map((tag) => [tag, mark(tag)])),
    ...more,
  };
}

/**
 * Creates a site with an imported access log, live hits, events, a person, a payment, a dead letter and settings. Except in the access log,
 * almost all texts are markup. Resolves with the site ID when everything is stored.
 */
export async function sendMarkedTraffic(lanes: Lanes, lane: Lane, adminToken: string): Promise<string> {
  const { client } = lane;
  const site = await client.createSite({ name: mark('site') });
  const must = (path: string, body: object) => client.must(201, 'POST', `/sites/${site}${path}`, body);
  const folder = mkdtempSync(join(tmpdir(), 'weir-marked-'));
  try {
    const file = join(folder, 'access.log');
    writeFileSync(file, readAccessLog().text);
    const env = { WEIR_URL: client.urls[0] ?? '', WEIR_ADMIN_TOKEN: adminToken };
    const { exitCode, err } = await cli(['import', file, '--site', site, '--json'], { env });
    if (exitCode !== 0) throw new Error(err);
  } finally {
    rmSync(folder, { recursive: true });
  }
  lane.now = Date.now();
  const { key } = await client.createKey(site, { name: mark('key') });
  const headers = { 'user-agent': FIREFOX, 'x-forwarded-for': '8.8.8.8' };
  const stored = async (answer: Promise<{ readonly status: number; readonly text: string }>): Promise<void> => {
    const { status, text } = await answer;
    if (status >= 300) throw new Error(`${status} ${text}`);
  };
  const hit = (more: object = {}) => {
    // Hits must have different times. Otherwise the entry page and the exit page would be random.
    lane.now += 1_000;
    return stored(client.collect(markedHit(site, more), headers));
  };
  await hit();
  await hit({ pathname: '/next', referrer: `javascript:hacked('link')` });
  // Visits the path with markup again, so that it is also the exit page.
  await hit();
  const properties = { [mark('property')]: mark('value'), plan: mark('plan') };
  await hit({ type: 'event', event_name: mark('event'), event_properties: properties });
  const traits = {
    plan: mark('trait'),
    'trait-of-person': mark('trait value'),
    avatar: `javascript:hacked('avatar')`,
  };
  const person = { user_id: USER_ID, name: mark('name'), email: 'a"<b>@example.com', ...traits };
  await stored(client.collect(markedHit(site), { ...headers, 'user-agent': mark('agent') }));
  await stored(client.identify(key, { visitor_id: "<b onclick='hacked()'>v", ...person }));
  const paid = { user_id: USER_ID, value: '9.90', properties: { currency: mark('cur'), plan: mark('plan') } };
  await stored(client.events(key, { name: mark('event'), ...paid }));

  await must('/goals', { type: 'event', value: mark('event'), name: mark('goal') });
  await must('/segments', { name: mark('segment'), filters: [`event:is:${mark('event')}`] });
  await must('/funnels', { name: mark('saved funnel'), steps: [`event:${mark('event')}`, `page:/${mark('path')}`] });
  await must('/annotations', { at: new Date(lane.now).toISOString(), text: mark('note') });
  await must('/viewers', { name: mark('viewer') });
  await must('/exclusions', { type: 'path', value: `/${mark('rule')}` });

  await lanes.settled();
  lanes.failPlaces(true);
  await client.collect(markedHit(site), { ...headers, 'x-forwarded-for': '81.2.69.142' });
  await lanes.settled();
  lanes.failPlaces(false);
  return site;
}
