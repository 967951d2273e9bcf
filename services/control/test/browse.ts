import { ADMIN_PREFIX } from '@weir/control/admin-routes';
import { type HttpAnswer, sendHttp } from '@weir/testkit/http-client';
import type { ControlHarness } from './control-harness.ts';

export type Headers = Readonly<Record<string, string>>;
/** The header with which a browser marks a request from a page of the same origin. */
export const OWN_PAGE: Headers = { 'sec-fetch-site': 'same-origin' };

/** Sends requests as a browser does: with a cookie, and no token in a header. */
export function createBrowsing(weir: ControlHarness) {
  function signIn(token: unknown, headers: Headers = OWN_PAGE): Promise<HttpAnswer> {
    return sendHttp(weir.url, { method: 'POST', path: `${ADMIN_PREFIX}/session`, headers, body: { token } });
  }

  return {
    signIn,
    browse: (method: string, path: string, cookie: string, headers: Headers = OWN_PAGE): Promise<HttpAnswer> =>
      sendHttp(weir.url, { method, path: `${ADMIN_PREFIX}${path}`, headers: { ...headers, cookie } }),
    async cookieOf(token: string, headers: Headers = OWN_PAGE): Promise<string> {
      const { status, headers: answered } = await signIn(token, headers);
      expect(status).toBe(200);
      return String(answered['set-cookie']?.[0]).split(';')[0] ?? '';
    },
    async addViewer(site = 'mine') {
      const { status, body } = await weir.call('POST', `/sites/${site}/viewers`, { name: 'Ada' });
      expect(status).toBe(201);
      return body.data as { readonly viewer_id: string; readonly token: string; readonly prefix: string };
    },
    dataOf: (answer: HttpAnswer) => (answer.json as { readonly data: Record<string, unknown> }).data,
  };
}
