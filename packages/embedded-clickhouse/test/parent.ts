import { startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

/** A process that owns an embedded ClickHouse, for tests that kill it: prints its child's address once, and stays. */
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
