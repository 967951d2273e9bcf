import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface PageAnswer {
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Page = (path: string, headers: IncomingHttpHeaders) => PageAnswer | Promise<PageAnswer>;

/** A web site with its own origin, like the sites of Weir's users: requests to Weir are cross-origin. */
export interface PageServer {
  readonly url: string;
  serve(page: Page): void;
  close(): Promise<void>;
}

export async function startPageServer(): Promise<PageServer> {
  let page: Page = () => ({ html: '' });
  const server = createServer(async (request, response) => {
    if (request.url === '/favicon.ico') return response.writeHead(404).end();
    const { html, headers } = await page(request.url ?? '/', request.headers);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'max-age=60', ...headers });
    response.end(`<!doctype html><meta charset="utf-8"><title>page</title>${html}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve(next) {
      page = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
