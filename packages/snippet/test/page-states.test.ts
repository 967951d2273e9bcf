import { bundleScript, type FakePage, openFakePage, type Script } from './fake-page.ts';

let full: Script;
let core: Script;
let stub: Script;
let esModule: Script;
beforeAll(async () => {
  full = await bundleScript('script.ts');
  core = await bundleScript('core-script.ts');
  stub = await bundleScript('stub-script.ts');
  esModule = await bundleScript('create-weir.ts');
});

const namesOf = ({ hits }: FakePage): unknown[] => hits.map((hit) => hit.event_name ?? hit.pathname);

describe('a page that changes its path before it becomes visible', () => {
  test('each hit has the address of the page at the time of the call', async () => {
    const page = openFakePage({ url: 'https://a.example/?q=1', isHidden: true });
    page.run(full);
    page.window.weir.track('early');
    page.go('/home');
    page.window.weir.track('late');
    await page.settled();
    expect(page.hits).toEqual([]);
    page.show(true);
    await page.settled();
    const first = { url: 'https://a.example/?q=1', pathname: '/', referrer: '' };
    const second = { url: 'https://a.example/home', pathname: '/home', referrer: first.url };
    expect(page.hits).toMatchObject([
      { type: 'pageview', ...first },
      { event_name: 'early', ...first },
      { type: 'pageview', ...second },
      { event_name: 'late', ...second },
    ]);
  });

  test.each([
    ['/admin', '/b', ['/b', 'on /b']],
    ['/a', '/admin', ['/a', 'on /a']],
  ])('from %s to %s: only the hits of the excluded path are not sent', async (first, second, expected) => {
    const page = openFakePage({
      url: `https://a.example${first}`,
      isHidden: true,
      attributes: { exclude: '/admin' },
    });
    page.run(full);
    page.window.weir.track(`on ${first}`);
    page.go(second);
    page.window.weir.track(`on ${second}`);
    page.show(true);
    await page.settled();
    expect(namesOf(page)).toEqual(expected);
    for (const hit of page.hits) expect(hit.visitor_id).toMatch(/^\d{20,40}$/);
  });

  test('after an opt-out, nothing is sent or stored', async () => {
    const page = openFakePage({ isHidden: true });
    page.run(full);
    page.window.weir.optOut();
    page.show(true);
    await page.settled();
    expect(page.hits).toEqual([]);
    expect(page.storage).toEqual({ 'weir.off': '3' });
  });
});

describe('the stub', () => {
  test('a page can keep its object and methods, and use them after the script has loaded', async () => {
    const page = openFakePage();
    page.run(stub);
    const { weir } = page.window;
    const { track } = weir;
    track('before');
    expect(weir.getVisitorId()).toBe('');
    page.run(full);
    weir.track('object');
    track('method');
    await page.settled();
    expect(namesOf(page)).toEqual(['before', '/', 'object', 'method']);
    expect(weir.getVisitorId()).toBe(page.hits[0]?.visitor_id);
    expect(weir.getSessionId()).toBe(page.hits[0]?.session_id);
  });

  test('weir.core.js runs all kept calls except those of methods that it lacks', async () => {
    const page = openFakePage();
    page.run(stub);
    page.window.weir.track('before');
    page.window.weir.optOut();
    page.window.weir.track('after');
    page.run(core);
    await page.settled();
    expect(namesOf(page)).toEqual(['before', 'after', '/']);
    expect(page.errors).toEqual([expect.any(TypeError)]);
  });
});

test.each(['weir.js', 'weir.core.js'])('%s: endpoints can be separated by several spaces', async (file) => {
  const page = openFakePage({ attributes: { endpoint: ' /measure  api/collect ' } });
  page.isBlocked = (endpoint) => endpoint.endsWith('/measure');
  page.run(file === 'weir.js' ? full : core);
  await page.settled();
  page.runTimers();
  await page.settled();
  expect(page.endpoints).toEqual(['https://weir.example/measure', 'https://weir.example/api/collect']);
});

test('two endpoints: after a 5xx, the snippet waits; if the first endpoint cannot be reached, it tries the other one at once', async () => {
  const page = openFakePage({ attributes: { endpoint: '/measure api/collect' } });
  page.status = 503;
  page.run(full);
  await page.settled();
  page.isBlocked = () => true;
  for (let timer = 0; timer < 3; timer++) {
    page.runTimers();
    await page.settled();
  }
  expect(page.timersMs).toEqual([3_000, 3_000, 3_000, 6_000]);
  const other = openFakePage({ attributes: { endpoint: '/measure api/collect' } });
  other.isBlocked = () => true;
  other.run(full);
  await other.settled();
  expect(other.timersMs).toEqual([0]);
});

test('host names in data-hosts can have capital letters', async () => {
  const page = openFakePage({ attributes: { hosts: 'A.Example' } });
  page.run(full);
  await page.settled();
  expect(namesOf(page)).toEqual(['/']);
});

test('createWeir: an option that is undefined has its default', async () => {
  const page = openFakePage();
  page.run(esModule);
  const none = { endpoint: undefined, exclude: undefined, hosts: undefined, query: undefined, spa: undefined };
  page.window.createWeir({ site: 's', src: 'https://weir.example/', ...none }).pageview();
  page.go('/b?page=2');
  await page.settled();
  expect(page.hits.map((hit) => hit.url)).toEqual(['https://a.example/', 'https://a.example/b?page=2']);
  expect(page.endpoints[0]).toBe('https://weir.example/api/collect');
});

test('data-query also applies to the query of a fragment that data-hash sends', async () => {
  const url = 'https://a.example/?id=1&page=2#/reset?token=secret&page=3&utm_source=news#part?key=4';
  const page = openFakePage({ url, attributes: { hash: '', query: 'page' } });
  page.run(full);
  page.go('/#/b');
  page.go('/#/b?token=other');
  await page.settled();
  expect(page.hits.map((hit) => [hit.url, hit.pathname])).toEqual([
    ['https://a.example/?page=2', '/#/reset?page=3&utm_source=news#part'],
    ['https://a.example/', '/#/b'],
  ]);
  const all = openFakePage({ url, attributes: { hash: '' } });
  all.run(full);
  await all.settled();
  expect(namesOf(all)).toEqual([new URL(url).pathname + new URL(url).hash]);
});

test('a click on the text of a label also clicks its control, but an event around both is sent once', async () => {
  const page = openFakePage();
  page.run(full);
  const chosen = {
    attributes: [
      { name: 'data-weir-event', value: 'plan chosen' },
      { name: 'data-weir-plan', value: 'pro' },
    ],
    getAttribute: () => 'plan chosen',
    contains: (element: unknown) => element === input,
  };
  const closestOf = (found: object) => (selector: string) =>
    selector === 'a' ? null : ((found as never)[selector] ?? chosen);
  const input: object = { labels: [], closest: (selector: string) => closestOf({ label })(selector) };
  const label = { control: input };
  const text = { closest: closestOf({ label }) };
  for (const clicked of [text, input, input]) page.click(clicked);
  await page.settled();
  expect(namesOf(page)).toEqual(['/', 'plan chosen', 'plan chosen']);
});

test('two clicks on a button send two events', async () => {
  const page = openFakePage();
  page.run(full);
  const button = {
    attributes: [{ name: 'data-weir-event', value: 'add' }],
    getAttribute: () => 'add',
    contains: () => false,
    closest: (selector: string) => (/^(a|label)$/.test(selector) ? null : button),
  };
  page.click(button);
  page.click(button);
  await page.settled();
  expect(namesOf(page)).toEqual(['/', 'add', 'add']);
});

test('a stored queue that is not a list is removed, and the hits of the page are sent', async () => {
  const page = openFakePage();
  page.storage['weir.q'] = '5';
  page.run(full);
  await page.settled();
  expect(namesOf(page)).toEqual(['/']);
  expect(page.storage['weir.q']).toBeUndefined();
  expect(page.errors).toEqual([]);
});

describe('full storage', () => {
  test('an opt-out applies to the page if the browser stores nothing', async () => {
    const page = openFakePage({ storageCharsMax: 0 });
    page.run(full);
    page.window.weir.optOut();
    page.window.weir.track('refused');
    await page.settled();
    expect(namesOf(page)).toEqual(['/']);
    page.window.weir.optIn();
    page.window.weir.track('again');
    await page.settled();
    expect(namesOf(page)).toEqual(['/', 'again']);
  });

  test('an opt-out is stored in the place of the values that it removes', async () => {
    const page = openFakePage();
    page.run(full);
    await page.settled();
    page.storageCharsMax = Object.values(page.storage).join('').length;
    page.window.weir.optOut();
    expect(page.storage).toEqual({ 'weir.off': '3' });
  });

  test('hits that a hidden page can neither send nor store are sent when it is visible again', async () => {
    const page = openFakePage({ storageCharsMax: 0 });
    page.run(full);
    await page.settled();
    page.show(false);
    page.isBlocked = () => true;
    page.window.weir.track('first');
    page.window.weir.track('second');
    await page.settled();
    page.isBlocked = () => false;
    page.show(true);
    page.runTimers();
    await page.settled();
    expect(namesOf(page)).toEqual(['/', 'first', 'second']);
  });
});

test('an opt-out drops the hits that wait, also if the visitor opts in again at once', async () => {
  const page = openFakePage();
  page.run(full);
  await page.settled();
  page.isBlocked = () => true;
  page.window.weir.track('refused');
  await page.settled();
  page.isBlocked = () => false;
  page.window.weir.optOut();
  page.window.weir.optIn();
  page.window.weir.track('again');
  page.runTimers();
  await page.settled();
  expect(namesOf(page)).toEqual(['/', 'again']);
});
