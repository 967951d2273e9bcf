import { resolve } from 'node:path';
import { objectStoreUrlProblem } from '@weir/domain/net/object-store-url';
import { KEEP_PATTERN, type Keep, keepProblem } from '@weir/domain/registry/keep';
import { type EngineConfig, readEngineConfig } from './engine-config.ts';
import { createEnvReader, type EnvReader } from './env-reader.ts';
import { readGeoipDatabase } from './geoip-config.ts';
import { type HttpConfig, readHttpConfig } from './http-config.ts';
import { readPublicUrl } from './public-url-config.ts';
import { readS3Settings, type S3Settings } from './s3-config.ts';

/** All settings. Each is an environment variable, described in docs/operations.md. `loadConfig` reads them once, at startup. */
export interface Config extends HttpConfig {
  readonly port: number;
  /** The address under which browsers and servers reach the gateway, such as `https://events.example.com`. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** If it is undefined, a token is created at the first start and stored in the data folder. */
  readonly adminToken: string | undefined;
  readonly rateLimits: { readonly collect: number; readonly events: number; readonly identify: number };
  /** The file with the geo data. If it is undefined, Weir uses the bundled DB-IP data. */
  readonly geoipDatabase: string | undefined;
  /** How long the topics `events.raw` and `events.enriched` keep records. */
  readonly rawRetentionMs: number;
  readonly enrichedRetentionMs: number;
  readonly logLevel: LogLevel;
  /** Number of partitions of a new log; an existing log keeps its number. */
  readonly partitions: number;
  readonly batch: {
    /** Under load, the gateway collects the appends of concurrent requests for this long, or longer while an append is in flight. */
    readonly appendLingerMs: number;
    /** The writer inserts when it has this many rows or bytes, or after this time. */
    readonly writerRowsMax: number;
    readonly writerBytesMax: number;
    readonly writerLingerMs: number;
  };
  /** How long Weir waits for running requests after SIGTERM. It waits five seconds longer for running batches. */
  readonly drainTimeoutMs: number;
  /** Whether embedded enricher, writer, archiver and replays run in a thread of their own. `auto`: if there are at least two cores. */
  readonly pipelineThread: PipelineThread;
  /** How many processes accept hits, events and identities on the port. With 1, the main process does. */
  readonly gatewayProcesses: number;
  /** How often Weir checks the settings of the engines on which exactly-once depends. */
  readonly guardIntervalMs: number;
  /** While less space than this (at most a quarter of the disk) is free, Weir stores no records on the disk of the data folder. */
  readonly diskReserveBytes: number;
  /** The memory that the embedded ClickHouse may use. Undefined: the memory of the machine or container minus 672 MiB, but at least 352 MiB. */
  readonly clickhouseMemoryBytes: number | undefined;
  readonly engines: EngineConfig;
  /** Undefined if Weir does not archive. */
  readonly archive: ArchiveConfig | undefined;
  /** Backups of the data folder: their schedule, and the defaults for backups on request. */
  readonly backup: BackupConfig;
  readonly s3: S3Settings;
  /** How long the tables keep the rows of sites that have no retention of their own. */
  readonly keep: Keep;
}

export interface BackupConfig {
  /** The place of the backups: `file:///folder` or `s3://bucket/prefix`. */
  readonly to: string | undefined;
  /** Time between two scheduled backups. If it is undefined, backups are made only on request. */
  readonly everyMs: number | undefined;
  /** How many backups are kept. If it is undefined, old backups are not deleted. */
  readonly keep: number | undefined;
}

export interface ArchiveConfig {
  /** The place of the archive: `file:///folder` or `s3://bucket/prefix`. */
  readonly url: string;
  /** How long the archive keeps segments (files of records). Undefined if it keeps them forever. */
  readonly retentionMs: number | undefined;
  /** A segment is stored when it has this many bytes before compression, or after this time. */
  readonly segmentBytesMax: number;
  readonly lingerMs: number;
  /** Whether the role control also stores the rows of complete days as Parquet files. */
  readonly parquet: boolean;
}

const PIPELINE_THREAD = ['auto', 'on', 'off'] as const;
type PipelineThread = (typeof PIPELINE_THREAD)[number];

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * With embedded engines, one process handles all partitions. More partitions would not make it faster, but would need more writes and
 * inserts.
 */
const PARTITIONS_EMBEDDED = 1;
const PARTITIONS_KAFKA = 12;
/**
 * How long the writer collects rows for an insert. Each partition inserts separately: with the 12 partitions on Kafka, 250 ms would mean 48
 * inserts per second, and a small insert costs as much as about 2,000 further rows of a large one (docs/targets.md, "Storage"). Therefore the time is
 * longer on Kafka.
 */
const LINGER_EMBEDDED_MS = 250;
const LINGER_KAFKA_MS = 1000;

/** The error for invalid settings. Its message contains all problems, one on each line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`invalid settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, options);
    this.problems = problems;
  }
}

/**
 * Reads the settings. Throws `ConfigError` with every problem; an empty variable counts as not set. `namedRoles`: the roles that the command line
 * names. If it names none, the list is empty, and the process has all roles.
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  namedRoles: readonly string[] = [],
): Config {
  const reader = createEnvReader(env);
  const { text, whole } = reader;

  const logLevel = reader.oneOf('LOG_LEVEL', LOG_LEVELS) ?? 'info';

  const adminToken = text('WEIR_ADMIN_TOKEN');
  if (adminToken !== undefined && !/^[\x21-\x7e]{16,256}$/.test(adminToken)) {
    reader.problem('WEIR_ADMIN_TOKEN must be 16 to 256 visible ASCII characters');
  }

  const http = readHttpConfig(reader);

  const engines = readEngineConfig(reader);
  const config: Config = {
    ...http,
    port: whole('PORT', 8080, 0, 65_535),
    publicUrl: readPublicUrl(reader),
    dataDir: resolve(text('WEIR_DATA_DIR') ?? './data'),
    adminToken,
    rateLimits: {
      collect: whole('RATE_LIMIT_COLLECT', 600, 1, 1_000_000_000),
      events: whole('RATE_LIMIT_EVENTS', 1200, 1, 1_000_000_000),
      identify: whole('RATE_LIMIT_IDENTIFY', 120, 1, 1_000_000_000),
    },
    geoipDatabase: readGeoipDatabase(reader),
    rawRetentionMs: whole('RAW_RETENTION_HOURS', 72, 1, 8760) * UNIT_MS.h,
    enrichedRetentionMs: whole('ENRICHED_RETENTION_DAYS', 30, 1, 3650) * UNIT_MS.d,
    logLevel,
    partitions: whole('WEIR_PARTITIONS', engines.kafka === undefined ? PARTITIONS_EMBEDDED : PARTITIONS_KAFKA, 1, 1024),
    batch: {
      appendLingerMs: whole('WEIR_APPEND_LINGER_MS', 5, 0, 1000),
      writerRowsMax: whole('WEIR_WRITER_ROWS_MAX', 20_000, 1, 100_000),
      writerBytesMax: whole('WEIR_WRITER_BYTES_MAX', 16 * 1024 * 1024, 65_536, 256 * 1024 * 1024),
      writerLingerMs: whole(
        'WEIR_WRITER_LINGER_MS',
        engines.kafka === undefined ? LINGER_EMBEDDED_MS : LINGER_KAFKA_MS,
        0,
        60_000,
      ),
    },
    diskReserveBytes: whole('WEIR_DISK_RESERVE_MB', 256, 16, 1_000_000) * 1024 * 1024,
    clickhouseMemoryBytes: readClickhouseMemory(reader),
    engines,
    archive: readArchive(reader, namedRoles),
    backup: readBackup(reader, engines),
    s3: readS3Settings(reader),
    keep: readKeep(reader),
    pipelineThread: reader.oneOf('WEIR_PIPELINE_THREAD', PIPELINE_THREAD) ?? 'auto',
    gatewayProcesses: whole('WEIR_GATEWAY_PROCESSES', 1, 1, 64),
    drainTimeoutMs: whole('WEIR_DRAIN_TIMEOUT_MS', 20_000, 0, 600_000),
    guardIntervalMs: whole('WEIR_GUARD_INTERVAL_SECONDS', 60, 1, 60) * 1000,
  };
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return Object.freeze(config);
}

function readArchive(reader: EnvReader, namedRoles: readonly string[]): ArchiveConfig | undefined {
  const url = reader.text('ARCHIVE_URL');
  const retentionMs = reader.whole('ARCHIVE_RETENTION_DAYS', 0, 0, 36_500) * UNIT_MS.d;
  const segmentBytesMax = reader.whole('ARCHIVE_SEGMENT_MB', 32, 1, 1024) * 1024 * 1024;
  const lingerMs = reader.whole('ARCHIVE_LINGER_SECONDS', 600, 1, 86_400) * 1000;
  const parquet = reader.flag('ARCHIVE_PARQUET', true);
  if (url === undefined) {
    if (namedRoles.includes('archiver')) {
      reader.problem('the role archiver needs ARCHIVE_URL: without it, nothing is archived');
    }
    return undefined;
  }
  requireObjectStoreUrl(reader, 'ARCHIVE_URL', url);
  return { url, retentionMs: retentionMs === 0 ? undefined : retentionMs, segmentBytesMax, lingerMs, parquet };
}

const EVERY = /^([1-9]\d{0,4})([mhd])$/;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** With less memory, ClickHouse cannot open its tables and insert at the same time. */
const CLICKHOUSE_MEMORY_MB_MIN = 256;

/** The memory of the embedded ClickHouse in bytes; undefined for its default. */
function readClickhouseMemory(reader: EnvReader): number | undefined {
  const megabytes = reader.whole('WEIR_CLICKHOUSE_MEMORY_MB', 0, 0, 10_000_000);
  if (megabytes > 0 && megabytes < CLICKHOUSE_MEMORY_MB_MIN)
    reader.problem(`WEIR_CLICKHOUSE_MEMORY_MB must be 0 or at least ${CLICKHOUSE_MEMORY_MB_MIN}`);
  return megabytes === 0 ? undefined : megabytes * 1024 * 1024;
}

function readBackup(reader: EnvReader, { kafka, clickhouse }: EngineConfig): BackupConfig {
  const to = reader.text('WEIR_BACKUP_TO');
  const every = reader.text('WEIR_BACKUP_EVERY');
  const keep = reader.whole('WEIR_BACKUP_KEEP', 0, 0, 10_000);
  const [, count, unit] = EVERY.exec(every ?? '') ?? [];
  if (to !== undefined) requireObjectStoreUrl(reader, 'WEIR_BACKUP_TO', to);
  if (every !== undefined && unit === undefined) {
    reader.problem(`WEIR_BACKUP_EVERY must be a number with m, h or d, such as 24h, not "${every}"`);
  }
  if (every !== undefined && to === undefined) reader.problem('WEIR_BACKUP_EVERY needs WEIR_BACKUP_TO');
  if (to !== undefined && (kafka !== undefined || clickhouse !== undefined)) {
    const name = kafka === undefined ? 'CLICKHOUSE_URL' : 'KAFKA_BROKERS';
    reader.problem(
      `WEIR_BACKUP_TO makes no backups together with ${name}, because Weir backs up only its embedded engines: remove WEIR_BACKUP_TO, and back up your engines (docs/operations.md, Backups)`,
    );
  }
  return {
    to,
    everyMs: unit === undefined ? undefined : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS],
    keep: keep === 0 ? undefined : keep,
  };
}

function readKeep(reader: EnvReader): Keep {
  const read = (name: string): string => {
    const text = reader.text(name) ?? 'forever';
    if (new RegExp(KEEP_PATTERN).test(text)) return text;
    reader.problem(`${name} must be a number with d or y, such as 400d or 2y, or forever, not "${text}"`);
    return 'forever';
  };
  const keep = { events: read('KEEP_EVENTS'), profiles: read('KEEP_PROFILES'), rollups: read('KEEP_ROLLUPS') };
  const problem = keepProblem(keep);
  if (problem !== undefined) reader.problem(`KEEP_ROLLUPS: ${problem}`);
  return keep;
}

function requireObjectStoreUrl(reader: EnvReader, name: string, url: string): void {
  const problem = objectStoreUrlProblem(url);
  if (problem !== undefined) reader.problem(`${name} ${problem}`);
}
