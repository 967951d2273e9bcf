/**
 * `node infra/local/services.mjs up|down|status|check [--only kafka,redis,clickhouse,s3] [--dir DIR] [--wipe]`
 * Runs real services without Docker, on loopback. S3 runs only if `--only` names it. `up` prints only `export NAME=value` lines to
 * standard output.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { clickhouse } from './clickhouse.mjs';
import { kafka } from './kafka.mjs';
import { DEFAULT_DIR, say } from './layout.mjs';
import { redis } from './redis.mjs';
import { s3 } from './s3.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, dir: { type: 'string' }, wipe: { type: 'boolean', default: false } },
});
const base = resolve(values.dir ?? DEFAULT_DIR);
const wanted = values.only?.split(',');
const services = [kafka, redis, clickhouse, s3].filter(({ name }) => wanted?.includes(name) ?? name !== 's3');
const withoutPassword = (address) => address.replace(/\/\/[^/@]+@/, '//');
const dirOf = ({ name }) => join(base, name);

async function up() {
  if (process.env.CI === 'true') for (const service of services) service.install();
  const missing = services.flatMap((service) => service.missing());
  if (missing.length > 0) {
    say(`Missing here (with CI=true it is installed):\n${missing.map((line) => `  ${line}`).join('\n')}`);
    process.exit(1);
  }
  const lines = await Promise.all(
    services.map(async (service) => {
      say(`${service.name}: starting in ${dirOf(service)}`);
      const address = await service.up(dirOf(service));
      say(`${service.name}: ready at ${withoutPassword(address)}`);
      return `export ${service.variable}=${address}\n`;
    }),
  );
  process.stdout.write(lines.join(''));
}

async function down() {
  await Promise.all(services.map((service) => service.down(dirOf(service))));
  say(`stopped: ${services.map(({ name }) => name).join(', ')}`);
  if (!values.wipe) return;
  for (const service of services) rmSync(dirOf(service), { recursive: true, force: true });
  if (existsSync(base) && readdirSync(base).length === 0) rmSync(base, { recursive: true });
}

/** Prints the state of each service. The exit code is 1 if a service is down. */
async function status() {
  for (const service of services) {
    const address = await service.status(dirOf(service));
    say(`${service.name}: ${address === undefined ? 'down' : withoutPassword(address)}`);
    if (address === undefined) process.exitCode = 1;
  }
}

/** Prints the programs that must be installed first. The exit code is 1 if there are any. */
async function check() {
  const missing = services.flatMap((service) => service.missing());
  for (const line of missing) say(line);
  process.exitCode = missing.length > 0 ? 1 : 0;
}

const command = { up, down, status, check }[positionals[0]];
if (command === undefined) {
  say('usage: services.mjs up|down|status|check [--only kafka,redis,clickhouse,s3] [--dir DIR] [--wipe]');
  process.exit(2);
}
await command();
