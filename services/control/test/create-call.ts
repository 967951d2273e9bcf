export const ADMIN_TOKEN = 'test-admin-token-0123456789';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read fields of the body
  readonly body: any;
}

/** Returns a function that calls the admin API of a control at `url`. */
export function createCall(url: string) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    token: string = ADMIN_TOKEN,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> => {
    const response = await fetch(`${url}/api/admin${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
}

/** Creates a site with any ID, and returns the ID. */
export async function newSite(call: ReturnType<typeof createCall>): Promise<string> {
  return (await call('POST', '/sites', { name: 'N', domain: 'example.com' })).body.data.site_id;
}
