import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { drainPending, Session } from 'chdb';
import type { TableRepair } from './tokens/repair-tables.ts';

const require = createRequire(import.meta.url);

/** The native addon of chdb. It is called directly: its `InsertRawAsyncConnection` accepts any statement, but `Session.insert` only some formats. */
interface ChdbAddon {
  InsertRawAsyncConnection(
    connection: unknown,
    prefix: string,
    data: Buffer,
    countLines: boolean,
  ): Promise<{ rowsWritten: number; bytesWritten: number; elapsed: number }>;
}

export interface EngineResult {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly rowsWritten: number;
  readonly bytesWritten: number;
}

export interface EngineCall {
  /** Statements that prepare the session of this call (`USE`, `SET`). */
  readonly setup: readonly string[];
  readonly statement: string;
  /** The part of an INSERT that follows `statement`: the rows, or everything after the word INSERT. Undefined for other statements. */
  readonly data: Buffer | undefined;
  readonly format: string;
  /** A name for `cancel`, unique among the running statements. It has no effect on a call with `data`. */
  readonly name?: string;
}

/** The embedded engine with its folder. Each call uses a new session, because settings remain in a session. */
export interface Engine {
  run(call: EngineCall): Promise<EngineResult>;
  /** Cancels the statement with this name, if it has begun. Its `run` rejects soon after. */
  cancel(name: string): Promise<void>;
  /** Runs a query without a FORMAT clause, and writes its answer to a named pipe. Resolves when all of it is written. */
  writeTo(path: string, call: Omit<EngineCall, 'data'>): Promise<void>;
  /** Cancels the query that writes to the pipe, if it is already running. Its `writeTo` rejects soon after. */
  cancelWriteTo(path: string): Promise<void>;
  close(): Promise<void>;
}

const FOLDER_IN_USE = /Code: 76\b|lock/i;

/**
 * By default, chDB loses rows in a power loss: it does not sync a merged part, and removes its source parts at once. With these settings,
 * merged parts are synced. Source parts stay for 60 s (on a ClickHouse server 480 s), because a repair may need them (detach-doubtful-parts.ts)
 * until the file accepted-blocks.json records the merged part. Weir writes this file every 30 s (`ACCEPT_PERIOD_MS`). Each table removes old
 * parts every 10 to 30 s, instead of every 30 to 300 s, so that the rows of an erased person are soon removed from the disk.
 * `merge_selector_base`: with the default 5, more than a third of the engine's CPU time was spent on merges while live traffic arrived in small
 * inserts. With a higher number, each merge takes more parts, so rows are merged less often and a table has more parts (docs/decisions/0055).
 * `max_server_memory_usage`: by default, chDB would use up to nine tenths of the memory, and Weir's other processes would not have enough.
 */
const configOf = (memoryBytes: number): string => `<clickhouse>
<max_server_memory_usage>${memoryBytes}</max_server_memory_usage>
<merge_tree>
  <min_rows_to_fsync_after_merge>1</min_rows_to_fsync_after_merge>
  <merge_selector_base>10</merge_selector_base>
  <old_parts_lifetime>60</old_parts_lifetime>
  <cleanup_delay_period>10</cleanup_delay_period>
  <max_cleanup_delay_period>30</max_cleanup_delay_period>
</merge_tree></clickhouse>
`;
const CONFIG_FILE = 'engine-config.xml';

export interface EngineOptions {
  readonly folder: string;
  /** The memory that all statements and caches may use together. */
  readonly memoryBytes: number;
  readonly lockWaitMs: number;
  /** The result of the repair, which the caller has run before. */
  readonly repair: TableRepair;
}

/** Opens the engine. Waits up to `lockWaitMs` if another process still uses the folder. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { folder } = options;
  const addon = loadAddon();
  const root = await openRepaired(options);

  /** Cancels the running statements for which the SQL condition holds. */
  async function kill(condition: string): Promise<void> {
    const session = new Session(folder);
    try {
      await session.queryAsync(`KILL QUERY WHERE ${condition} ASYNC`, { format: 'Null' });
    } finally {
      session.close();
    }
  }

  return {
    async run({ setup, statement, data, format, name }) {
      const session = new Session(folder);
      try {
        for (const command of setup) await session.queryAsync(command);
        if (data !== undefined) {
          // The addon adds one line feed between statement and data. A second one at the end of the statement would become a part of the data.
          const written = await addon.InsertRawAsyncConnection(session.connection, `${statement.trim()} `, data, false);
          return { bytes: new Uint8Array(0), rowsRead: 0, bytesRead: data.length, ...written };
        }
        const named = name === undefined ? statement : `${markOf(name)} ${statement}`;
        const result = await session.queryAsync(named, { format });
        const { rowsRead, bytesRead } = result;
        return { bytes: result.bytes(), rowsRead, bytesRead, rowsWritten: 0, bytesWritten: 0 };
      } finally {
        session.close();
      }
    },
    async writeTo(path, { setup, statement, format }) {
      const session = new Session(folder);
      try {
        for (const command of setup) await session.queryAsync(command);
        // Uses APPEND, because the pipe already exists. Does not use `queryStream` of chdb: it formats each block on its own, so a Parquet
        // answer would be several files.
        await session.queryAsync(`${statement}\n${intoFile(path)} APPEND FORMAT ${format}`, { format: 'Null' });
      } finally {
        session.close();
      }
    },
    cancel: (name) => kill(`startsWith(query, '${markOf(name)}')`),
    cancelWriteTo: (path) => kill(`position(query, ${literal(intoFile(path))}) > 0`),
    async close() {
      root.close();
      await drainPending();
    },
  };
}

/** The end of a statement whose answer is written to a file. The path contains the data folder, whose name can have an apostrophe. */
function intoFile(path: string): string {
  return `INTO OUTFILE ${literal(path)}`;
}

function literal(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** The comment at the beginning of a statement, by which `cancel` finds it. */
function markOf(name: string): string {
  return `/*${name}*/`;
}

/**
 * Opens the engine, which detects damaged parts. If it has found any, drops the deduplication tokens of their inserts and opens the engine
 * again, because the engine reads the tokens only when it is opened.
 */
async function openRepaired({ folder, memoryBytes, lockWaitMs, repair }: EngineOptions): Promise<Session> {
  const file = join(folder, CONFIG_FILE);
  const config = configOf(memoryBytes);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== config) writeFileSync(file, config);
  const root = await openRoot(folder, lockWaitMs);
  if (!repair.hasBrokenParts()) return root;
  root.close();
  await drainPending();
  const forgotten = repair.dropTokensOfBrokenParts();
  process.stderr.write(`parts were damaged: dropped their tokens from ${forgotten} tables\n`);
  return openRoot(folder, lockWaitMs);
}

async function openRoot(folder: string, lockWaitMs: number): Promise<Session> {
  const deadline = performance.now() + lockWaitMs;
  // In this argument, a backslash escapes the next character.
  const configFile = join(folder, CONFIG_FILE).replaceAll('\\', '\\\\');
  for (;;) {
    try {
      return new Session(folder, { connectionArgs: [`--config-file=${configFile}`] });
    } catch (error) {
      if (!(error instanceof Error) || !FOLDER_IN_USE.test(error.message) || performance.now() > deadline) throw error;
      await pause(50);
    }
  }
}

function loadAddon(): ChdbAddon {
  const { loadNative } = require(join(dirname(require.resolve('chdb')), 'dist', 'loader.js')) as {
    loadNative(): ChdbAddon;
  };
  return loadNative();
}
