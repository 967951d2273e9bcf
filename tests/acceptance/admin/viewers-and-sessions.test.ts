import { eventually } from '@weir/testkit/eventually';
import type { HttpAnswer } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';
import { expectEnvelope } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
/** Browsers add this header to a request from a page of the same origin. */
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

function ask(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> {
  return weir.send({ method, path: `/api/admin${path}`, headers });
}

async function addViewer(site: string) {
  const made = await weir.must(201, 'POST', `/sites/${site}/viewers`, { name: 'Ada' });
  return made as { readonly viewer_id: string; readonly token: string };
}

/** Signs in. Resolves with the cookie in the form in which a browser sends it. */
async function cookieOf(token: string): Promise<string> {
  const answer = await weir.send({
    method: 'POST',
    path: '/api/admin/session',
    headers: OWN_PAGE,
    body: { token },
  });
  expect(answer.status).toBe(200);
  return String(answer.headers['set-cookie']?.[0]).split(';')[0] ?? '';
}

test('a viewer reads the reports of one site, with the token and with a session, until it is removed', async () => {
  const [mine, other] = [await weir.createSite(), await weir.createSite()];
  const { viewer_id: viewerId, token } = await addViewer(mine);
  const stats = (site: string, headers: Readonly<Record<string, string>>) =>
    ask('GET', `/sites/${site}/stats`, headers);
  await eventually('the viewer is known', async () => (await stats(mine, bearer(token))).status === 200);
  const browser = { ...OWN_PAGE, cookie: await cookieOf(token) };
  expect((await stats(mine, browser)).status).toBe(200);
  for (const headers of [bearer(token), browser]) {
    expectEnvelope(await stats(other, headers), 403);
    expectEnvelope(await stats('no-such-site', headers), 403);
    expectEnvelope(await ask('GET', '/sites', headers), 403);
    expectEnvelope(await ask('DELETE', `/sites/${mine}`, headers), 403);
  }
  await weir.must(200, 'DELETE', `/sites/${mine}/viewers/${viewerId}`);
  await eventually('the viewer is refused', async () => (await stats(mine, bearer(token))).status === 401);
  expectEnvelope(await stats(mine, browser), 401);
});

test('the admin signs in, cannot be tricked by another page, and signs out', async () => {
  const site = await weir.createSite();
  const cookie = await cookieOf(weir.adminToken);
  expect((await ask('GET', '/sites', { ...OWN_PAGE, cookie })).status).toBe(200);
  expectEnvelope(await ask('DELETE', `/sites/${site}`, { 'sec-fetch-site': 'cross-site', cookie }), 403);
  expectEnvelope(await ask('DELETE', `/sites/${site}`, { origin: 'https://evil.example', cookie }), 403);
  await weir.must(200, 'GET', `/sites/${site}`);
  expect((await ask('DELETE', '/session', { ...OWN_PAGE, cookie })).status).toBe(200);
  await eventually('the session is refused', async () => {
    return (await ask('GET', '/sites', { ...OWN_PAGE, cookie })).status === 401;
  });
});
