import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

// tsc checks the code of the next five constants. It must report an error in each line after a @ts-expect-error, and in no other line.
const BROWSER = `
import { createWeir, type Weir } from '@weir/snippet';
import type { Options } from '@weir/snippet/options';
const options: Options = { site: 'demo', endpoint: '/measure', cookieless: true, query: 'page, f_*' };
const made: Weir = createWeir(options);
made.pageview();
made.setCookieless(true);
const weir = window.weir!;
weir.track('signup', { value: 49.9, plan: 'pro', trial: false, coupon: null });
weir.pageview();
weir.identify('ada', { email: 'ada@example.com', name: 'Ada', image: 'https://example.com/ada.png', plan: 'pro' });
const ids: string = weir.getVisitorId() + weir.getSessionId();
weir.optOut();
weir.optIn();
weir.setCookieless(false);
// @ts-expect-error window.weir is undefined until the script has loaded
window.weir.pageview();
// @ts-expect-error properties must be flat
weir.track('signup', { plan: { name: 'pro' } });
// @ts-expect-error a value must be a number or a string
weir.track('signup', { value: true });
// @ts-expect-error the name is required
weir.track();
// @ts-expect-error the site is required
createWeir({ endpoint: '/measure' });
// @ts-expect-error this option does not exist
createWeir({ site: 'demo', cookies: false });
export { ids };
`;

const PUBLIC_MODULE = `
import { createWeir, type Weir } from '${join(PROJECT_ROOT, 'dist/public/weir.mjs')}';
export const weir: Weir = createWeir({ site: 'demo' });
// @ts-expect-error the site is required
createWeir({});
`;

const SERVER = `
import { Weir, type WeirOptions } from '@weir/node-sdk';
import type { EventFields, IdentityFields } from '@weir/node-sdk/event';
import { weirMiddleware } from '@weir/node-sdk/express';
import { visitOf, withWeir } from '@weir/node-sdk/next';
import { openQueueFile } from '@weir/node-sdk/queue-file';
import type { Visit } from '@weir/node-sdk/visit';
const options: WeirOptions = { url: 'http://127.0.0.1:8080', apiKey: 'k', batch: true, store: openQueueFile('q') };
const weir = new Weir(options);
const fields: EventFields = { userId: 'ada', value: '49', properties: { items: [{ id: 1 }] }, timestamp: new Date() };
const taken: boolean = weir.track('signup', fields);
const traits: IdentityFields = { email: 'ada@example.com', plan: 'pro', old: null };
weir.identify('v1', 'ada', traits);
const left: Promise<number> = weir.close(1_000);
export const visit: Visit = visitOf(weir, new Request('https://example.com/'));
export const handler = withWeir(weir, (request, visit) => new Response(request.url + visit.visitorId));
export const middleware = weirMiddleware(weir);
// next build checks route handlers in this way.
interface NextRequest extends Request { readonly nextUrl: URL }
type RouteHandler = (request: NextRequest, context: { params: Promise<{ id: string }> }) => Response | Promise<Response>;
handler satisfies RouteHandler;
const withParams = withWeir(weir, async (request: NextRequest, visit, { params }: { params: Promise<{ id: string }> }) =>
  new Response(request.nextUrl.pathname + visit.visitorId + (await params).id),
);
withParams satisfies RouteHandler;
// Next up to 15.4 checks them in this way.
type SecondArgument<T> = T extends (...args: [any, infer U]) => any ? (unknown extends U ? any : U) : never;
type Check<Base, T extends Base> = [Base, T];
export type Checked = [
  Check<{ params: Promise<any> }, SecondArgument<typeof handler>>,
  Check<{ params: Promise<any> }, SecondArgument<typeof withParams>>,
];
export const nextMiddleware = withWeir(weir, (request: NextRequest, visit, _event: { waitUntil(work: Promise<any>): void }) => {
  visit.track(request.nextUrl.pathname);
});
export { left, taken };
// @ts-expect-error the key is required
new Weir({ url: 'http://127.0.0.1:8080' });
// @ts-expect-error a value must be a number or a string
weir.track('signup', { value: true });
// @ts-expect-error traits must be flat
weir.identify('v1', 'ada', { address: { city: 'London' } });
`;

const SERVER_README =
  /```ts\n(.*?)```/s.exec(readFileSync(join(PROJECT_ROOT, 'packages/node-sdk/README.md'), 'utf8'))?.[1] ?? 'no example';

const RECORDS = `
import { decodeEnriched, decodeRaw, type EnrichedEvent, RecordError, type RecordErrorCode } from '@weir/records';
const event: EnrichedEvent = decodeEnriched({ v: new Uint8Array([49]), o: '7' }, new Uint8Array());
const shown: [string, number, number | null, boolean, unknown] = [
  event.site_id, event.raw_offset, event.value, event.cookieless, event.properties.plan,
];
const kind: 'collect' | 'event' | 'identify' | 'import' | 'unlink' | 'dumped' = decodeRaw(null).kind;
export const code = (error: unknown): RecordErrorCode | undefined =>
  error instanceof RecordError ? error.code : undefined;
export { kind, shown };
// @ts-expect-error this column does not exist
event.address;
// @ts-expect-error a decoded record has no client address
decodeRaw(null).sealedIp;
`;

describe('the packages in dist/packages, installed with npm', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-packages-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(PROJECT_ROOT, 'dist/packages'), join(folder, 'node_modules/@weir'));
    symlinkSync(join(PROJECT_ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (program: string, ...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    return `${stdout}${stderr}status ${status}`;
  };

  test.each([
    ['@weir/snippet', BROWSER, 'es2022,dom,dom.iterable', []],
    ['dist/public/weir.mjs', PUBLIC_MODULE, 'es2022,dom,dom.iterable', []],
    ['@weir/node-sdk', SERVER, 'es2022', ['--types', 'node']],
    ['packages/node-sdk/README.md', SERVER_README, 'es2022', ['--types', 'node']],
    ['@weir/records', RECORDS, 'es2022', []],
  ])('%s is typed: what is right passes, what is wrong does not', (name, code, lib, more) => {
    const file = `uses${name.replace(/\W/g, '-')}.mts`;
    writeFileSync(join(folder, file), code);
    for (const resolution of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      const strict = [
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--skipLibCheck',
        'false',
      ];
      const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
      expect(run(tsc, ...strict, ...resolution, '--lib', lib, ...more, file)).toBe('status 0');
    }
  });

  test('@weir/records runs without other files of this repository', () => {
    writeFileSync(
      join(folder, 'decode.mjs'),
      `import { decodeRaw, RecordError } from '@weir/records';
       const record = { eventId: 'e', kind: 'event', siteId: 's', receivedAt: 1, sealedIp: 'x', body: { name: 'n' } };
       console.log(JSON.stringify(decodeRaw(new TextEncoder().encode(JSON.stringify(record)))));
       try { decodeRaw(new Uint8Array()); } catch (error) { console.log(error instanceof RecordError, error.code); }`,
    );
    expect(run('decode.mjs')).toBe(
      '{"eventId":"e","kind":"event","siteId":"s","receivedAt":1,"body":{"name":"n"}}\ntrue damaged\nstatus 0',
    );
  });

  test('@weir/node-sdk runs without other files of this repository', () => {
    writeFileSync(
      join(folder, 'use.mjs'),
      `import { Weir } from '@weir/node-sdk';
       import { weirMiddleware } from '@weir/node-sdk/express';
       import { withWeir } from '@weir/node-sdk/next';
       import { openQueueFile } from '@weir/node-sdk/queue-file';
       const sent = [];
       const fetch = async (url, { body }) => {
         sent.push(String(url), JSON.parse(body).name);
         return Response.json({ status: 'success', data: { accepted: true } }, { status: 202 });
       };
       const weir = new Weir({ url: 'http://weir.test', apiKey: 'k', store: openQueueFile('queue'), fetch });
       weir.track('signup');
       console.log(await weir.close(), ...sent, typeof weirMiddleware(weir), typeof withWeir(weir, () => 1));`,
    );
    expect(run('use.mjs')).toBe('0 http://weir.test/api/v1/events signup function function\nstatus 0');
  });
});
