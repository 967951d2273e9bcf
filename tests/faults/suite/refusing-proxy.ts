import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An error of ClickHouse. `name` is in the text of the error. */
export interface Refusal {
  readonly code: number;
  readonly name: string;
}

/** An HTTP proxy in front of a ClickHouse. It can answer inserts with an error, without sending them to ClickHouse. */
export interface RefusingProxy {
  readonly url: string;
  /** From now on, inserts are refused. `undefined`: everything is forwarded. */
  refuse(refusal: Refusal | undefined): void;
  /** The number of inserts that were refused since the last call of `refuse`. */
  refused(): number;
  close(): Promise<void>;
}

export async function startRefusingProxy(target: string): Promise<RefusingProxy> {
  let refusal: Refusal | undefined;
  let refused = 0;
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, answer) => {
    const { method, url = '', headers } = incoming;
    if (refusal !== undefined && /^INSERT /i.test(new URL(url, target).searchParams.get('query') ?? '')) {
      refused += 1;
      const { code, name } = refusal;
      incoming.resume();
      incoming.on('end', () => {
        answer.writeHead(500, { 'X-ClickHouse-Exception-Code': String(code) });
        answer.end(`Code: ${code}. DB::Exception: a fault of the tests. (${name}) (version 26.7.1.1)\n`);
      });
      return;
    }
    const outgoing = request({ hostname, port, method, path: url, headers }, (forwarded) => {
      answer.writeHead(forwarded.statusCode ?? 0, forwarded.headers);
      forwarded.pipe(answer);
      forwarded.on('error', () => answer.destroy());
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse(next) {
      refusal = next;
      refused = 0;
    },
    refused: () => refused,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
