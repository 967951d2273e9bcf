import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '@weir/testkit/free-port';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

const FIRST_PORT = 11_000;
const PORTS = 21_000;
/** A program that prints the result of `freePort`. `Math.random` first returns `share`. Each further call selects the next higher port. */
const PROGRAM = `
const [share] = process.argv.slice(-1).map(Number);
let next = share;
Math.random = () => { const now = next; next += 1 / ${PORTS}; return now; };
import { freePort } from '@weir/testkit/free-port';
console.log(await freePort());
`;

afterEach(() => jest.restoreAllMocks());

test('a port stays reserved before a server listens on it, in this process and for other processes', async () => {
  const port = await freePort();
  const share = (port - FIRST_PORT + 0.5) / PORTS;
  let next = share;
  jest.spyOn(Math, 'random').mockImplementation(() => {
    const now = next;
    next += 1 / PORTS;
    return now;
  });
  expect(await freePort()).toBeGreaterThan(port);
  const args = ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM, String(share)];
  const printed = execFileSync(process.execPath, args, {
    cwd: join(PROJECT_ROOT, 'packages/testkit'),
    encoding: 'utf8',
  });
  expect(Number(printed)).toBeGreaterThan(port);
});
