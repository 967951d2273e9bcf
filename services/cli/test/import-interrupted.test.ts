import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openLogFile } from '@weir/cli/import/open-log-file';
import { readLines } from '@weir/cli/import/read-lines';
import { readLogBytes } from '@weir/cli/import/read-log-bytes';
import { cli } from './cli-harness.ts';

const folder = mkdtempSync(join(os.tmpdir(), 'weir-interrupted-'));
/** The folder into which the import copies standard input. */
const temporary = join(folder, 'temporary');
const LINES = 20_000;
const text = '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"\n'.repeat(LINES);

/** The calls that change something. */
let posted: string[] = [];
/** Called at each call to the admin API. */
let onCall: (call: string) => void = () => undefined;
/** The answer to a call to the admin API. Undefined: the call succeeds. */
let refusal: ((call: string) => string | undefined) | undefined;
let server: Server;
let env: Record<string, string>;

/** An admin API with a site, and with an import that has already stored all but the last line. */
beforeAll(async () => {
  server = createServer((req, res) => {
    req.resume();
    const call = `${req.method} ${req.url?.split('/').at(-1)}`;
    onCall(call);
    if (req.method === 'POST') posted.push(call);
    const refused = refusal?.(call);
    if (refused !== undefined) {
      res.writeHead(409, { 'Retry-After': '5' }).end(JSON.stringify({ status: 'error', error: { message: refused } }));
      return;
    }
    const ledger = { lines_done: LINES - 1, hits_appended: 0, finished: false, lease: 'lease' };
    const data = req.method === 'POST' ? ledger : { domain: 'example.com', timezone: 'UTC' };
    res.end(JSON.stringify({ status: 'success', data }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = { WEIR_URL: url, WEIR_ADMIN_TOKEN: 'admin-token-of-the-test' };
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

let interruption: AbortController;
beforeEach(() => {
  interruption = new AbortController();
  posted = [];
  refusal = undefined;
  // TMPDIR would have no effect: in Jest, process.env is a copy that `tmpdir` does not read.
  jest.spyOn(os, 'tmpdir').mockReturnValue(temporary);
  mkdirSync(temporary, { recursive: true });
});
afterEach(() => jest.restoreAllMocks());

const run = (file: string) =>
  cli(['import', file, '--site', 'shop'], {
    env,
    stdin: Readable.from([text]),
    interruption: () => interruption.signal,
  });

test.each(['file', 'pipe'])('Ctrl-C while a %s is scanned: nothing is sent, and no copy is left', async (kind) => {
  const file = join(folder, 'access.log');
  writeFileSync(file, text);
  let copies = -1;
  onCall = (call) => {
    // The import calls GET shop (the site) before it scans the file.
    if (call === 'GET shop') {
      copies = readdirSync(temporary).length;
      interruption.abort();
    }
  };
  const { exitCode, err } = await run(kind === 'pipe' ? '-' : file);
  expect([exitCode, err]).toEqual([130, expect.stringMatching(/^weir: interrupted while the file was read/)]);
  expect(posted).toEqual([]);
  // The copy of the pipe has no name while it is read.
  expect(copies).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
});

test.each(['imports', 'finish'])('Ctrl-C while the call %s is repeated', async (step) => {
  const file = join(folder, 'access.log');
  writeFileSync(file, text);
  onCall = (call) => {
    if (call === `POST ${step}`) setTimeout(() => interruption.abort(), 0);
  };
  refusal = (call) => (call === `POST ${step}` ? 'another import of this file is running' : undefined);
  const { exitCode, err } = await run(file);
  const where = step === 'imports' ? 'before a line was sent' : `after line ${LINES - 1}`;
  expect([exitCode, err]).toEqual([
    130,
    expect.stringContaining(`weir: interrupted ${where}: run the same command again`),
  ]);
});

test('Ctrl-C while the lines of an earlier run are skipped: the lease is released, and no chunk is sent', async () => {
  const file = join(folder, 'access.log');
  writeFileSync(file, text);
  onCall = (call) => {
    if (call === 'POST imports') interruption.abort();
  };
  const { exitCode, err } = await run(file);
  expect([exitCode, err]).toEqual([
    130,
    expect.stringMatching(/interrupted.*: run the same command again to continue/),
  ]);
  expect(posted).toEqual(['POST imports', 'POST release']);
});

test('a log is not read further after an interruption', async () => {
  const file = join(folder, 'access.log');
  writeFileSync(file, text);
  const log = await openLogFile(file);
  let read = 0;
  const reading = async () => {
    for await (const lines of readLines(readLogBytes(log, interruption.signal))) {
      read += lines.length;
      interruption.abort();
    }
  };
  await expect(reading()).rejects.toMatchObject({ exitCode: 130 });
  await log.close();
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(LINES);
});
