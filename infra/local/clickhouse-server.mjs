/** Runs the embedded ClickHouse until SIGTERM, and writes its URL with credentials to `urlFile`. Needs tsx, because it imports TypeScript. */
import { renameSync, writeFileSync } from 'node:fs';
import { startEmbeddedClickhouse } from '../../packages/embedded-clickhouse/src/start-embedded-clickhouse.ts';

const [dataDir, urlFile, entry, port] = process.argv.slice(2);
const line = (fields, message) => process.stderr.write(`${JSON.stringify({ message, ...fields })}\n`);
const clickhouse = await startEmbeddedClickhouse({
  dataDir,
  entry,
  port: Number(port),
  logger: { info: line, warn: line },
});
await clickhouse.ready();
const url = new URL(clickhouse.url);
url.username = clickhouse.username;
url.password = clickhouse.password;
// The file is written under another name and then renamed, so that a waiting process reads a complete file.
writeFileSync(`${urlFile}.new`, url.href.replace(/\/$/, ''), { mode: 0o600 });
renameSync(`${urlFile}.new`, urlFile);
process.once('SIGTERM', () => void clickhouse.close().then(() => process.exit(0)));
