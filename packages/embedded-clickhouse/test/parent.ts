import { startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

/**
 * A process with an embedded ClickHouse, for tests that kill it. It prints the address, the password and the process ID of its child once,
 * and keeps running.
 */
async function main(): Promise<void> {
  const [dataDir = '', entry = ''] = process.argv.slice(2);
  const logger = { info: () => undefined, warn: () => undefined };
  const clickhouse = await startEmbeddedClickhouse({ dataDir, entry, logger });
  await clickhouse.ready();
  const { url, password } = clickhouse;
  process.stdout.write(`${JSON.stringify({ url, password, pid: clickhouse.pid() })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
