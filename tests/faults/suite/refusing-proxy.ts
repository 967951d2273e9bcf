import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** An error of ClickHouse. `name` is in the text of the error. */
export interface Refusal {
  readonly code: number;
  readonly name: string;
}

/**
 * What happens to an insert. `refused`: the proxy answers with the error and sends nothing to ClickHouse. `done-but-error`: ClickHouse executes
 * the insert, but the proxy answers with the error. `late`: ClickHouse executes the insert, and the proxy delays the answer.
 */
export type InsertFault =
  | { readonly kind: 'refused' | 'done-but-error'; readonly error: Refusal }
  | { readonly kind: 'late'; readonly lateMs: number };

/** An HTTP proxy in front of a ClickHouse that can disturb inserts. */
export interface RefusingProxy {
  readonly url: string;
  /** From now on, `fault` happens to each insert. `undefined`: everything is forwarded. */
  disturb(fault: InsertFault | undefined): void;
  /** The number of inserts to which the fault has happened since the last call of `disturb`. */
  disturbed(): number;
  close(): Promise<void>;
}

export async function startRefusingProxy(target: string): Promise<RefusingProxy> {
  let fault: InsertFault | undefined;
  let disturbed = 0;
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, answer) => {
    const { method, url = '', headers } = incoming;
    const isInsert = /^INSERT /i.test(new URL(url, target).searchParams.get('query') ?? '');
    const now = isInsert ? fault : undefined;
    if (now?.kind === 'refused') {
      disturbed += 1;
      incoming.resume();
      incoming.on('end', () => answerWith(now.error, answer));
      return;
    }
    const outgoing = request({ hostname, port, method, path: url, headers }, async (forwarded) => {
      if (now !== undefined && forwarded.statusCode === 200) {
        disturbed += 1;
        if (now.kind === 'late') await pause(now.lateMs);
        else {
          forwarded.resume();
          forwarded.on('end', () => answerWith(now.error, answer));
          return;
        }
      }
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
    disturb(next) {
      fault = next;
      disturbed = 0;
    },
    disturbed: () => disturbed,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answerWith({ code, name }: Refusal, answer: ServerResponse): void {
  answer.writeHead(500, { 'X-ClickHouse-Exception-Code': String(code) });
  answer.end(`Code: ${code}. DB::Exception: a fault of the tests. (${name}) (version 26.7.1.1)\n`);
}
