import { createInterface } from 'node:readline';
import { openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';

/**
 * `lmdb-append-on-request.ts FOLDER` reads numbers from standard input, one per line. For each number, it appends a record with this number
 * of bytes and prints the outcome.
 */
async function main(folder: string): Promise<void> {
  // Without this listener, a write beyond the file size limit ends the process. With it, the write fails.
  process.on('SIGXFSZ', () => undefined);
  const log = await openLmdbEventLog({ folder, partitions: 2, clock: Date.now, retentionMs: () => 3600_000 });
  for await (const line of createInterface({ input: process.stdin })) {
    const [outcome] = await log.append('t', [{ partition: 0, value: Buffer.alloc(Number(line), 'x') }]);
    const said = outcome?.status === 'stored' ? `stored ${outcome.offset}` : `${outcome?.status} ${outcome?.reason}`;
    const ping = await log.ping().then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
    process.stdout.write(`${said.replaceAll('\n', ' ')}; ping ${ping}\n`);
  }
}

void main(process.argv[2] ?? '');
