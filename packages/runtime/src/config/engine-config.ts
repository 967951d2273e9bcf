import { readFileSync } from 'node:fs';
import { hideCredentials } from '@weir/domain/net/hide-credentials';
import { readRedisUrl } from '@weir/domain/net/redis-url';
import type { EnvReader } from './env-reader.ts';

/** The external services that replace embedded engines. If one is undefined, the embedded engine is used. */
export interface EngineConfig {
  readonly kafka: KafkaConfig | undefined;
  readonly redis: RedisConfig | undefined;
  readonly clickhouse: ClickhouseConfig | undefined;
}

export interface KafkaConfig {
  readonly brokers: readonly string[];
  readonly tls: TlsConfig | undefined;
  readonly sasl: SaslConfig | undefined;
  /** Prefix of every topic and group, for a shared cluster. */
  readonly topicPrefix: string;
  /** Compression of appended records. Records with any of the compressions can be read. */
  readonly compression: KafkaCompressionName;
}

const KAFKA_COMPRESSIONS = ['none', 'gzip', 'lz4'] as const;
export type KafkaCompressionName = (typeof KAFKA_COMPRESSIONS)[number];

export interface SaslConfig {
  readonly mechanism: SaslMechanism;
  readonly username: string;
  readonly password: string;
}

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export type SaslMechanism = (typeof SASL_MECHANISMS)[number];

export interface TlsConfig {
  /** PEM of the certificate authorities to trust, instead of the system's. */
  readonly ca: string | undefined;
}

export interface RedisConfig {
  /** `redis[s]://`, `redis[s]+sentinel://h1,h2/master[/db]`, `redis[s]+cluster://h1,h2` */
  readonly url: string;
  readonly tls: TlsConfig | undefined;
  /** The user (empty: the default user) and the password of the Sentinels. If undefined, Weir sends neither to them. */
  readonly sentinel: { readonly username: string; readonly password: string } | undefined;
}

export interface ClickhouseConfig {
  readonly writer: ClickhouseUser;
  /** The ClickHouse user that runs reports and users' queries; the same as the writer if no reader is configured. */
  readonly reader: ClickhouseUser;
  readonly database: string;
  /** The cluster on which tables with replicas are created; undefined for a single server. */
  readonly cluster: string | undefined;
}

export interface ClickhouseUser {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

export function readEngineConfig(env: EnvReader): EngineConfig {
  return { kafka: readKafka(env), redis: readRedis(env), clickhouse: readClickhouse(env) };
}

function readKafka(env: EnvReader): KafkaConfig | undefined {
  const brokers = env.list('KAFKA_BROKERS');
  for (const broker of brokers) {
    const port = /^(?:\[[0-9a-fA-F:]+\]|[^\s:/]+):(\d{1,5})$/.exec(broker)?.[1];
    if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
      env.problem(`KAFKA_BROKERS must contain host:port pairs separated by commas, not "${hideCredentials(broker)}"`);
    }
  }
  const mechanism = env.oneOf('KAFKA_SASL_MECHANISM', SASL_MECHANISMS);
  const username = env.text('KAFKA_SASL_USERNAME');
  const password = env.text('KAFKA_SASL_PASSWORD');
  const set = [mechanism, username, password].filter((part) => part !== undefined).length;
  if (set !== 0 && set !== 3) {
    env.problem('KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set together');
  }
  const topicPrefix = env.text('KAFKA_TOPIC_PREFIX') ?? '';
  if (!/^[A-Za-z0-9._-]{0,100}$/.test(topicPrefix)) {
    env.problem('KAFKA_TOPIC_PREFIX must be at most 100 letters, digits, dots, dashes and underscores');
  }
  const compression = env.oneOf('KAFKA_COMPRESSION', KAFKA_COMPRESSIONS) ?? 'none';
  const ca = readPem(env, 'KAFKA_TLS_CA_FILE');
  const tls = env.flag('KAFKA_TLS', false) ? { ca } : undefined;
  if (brokers.length === 0) {
    reportKafkaWithoutBrokers(env, tls !== undefined);
    return undefined;
  }
  if (tls === undefined && env.text('KAFKA_TLS_CA_FILE') !== undefined) {
    env.problem('KAFKA_TLS_CA_FILE needs KAFKA_TLS=true: without TLS, records and passwords are sent unencrypted');
  }
  return {
    brokers,
    compression,
    tls,
    sasl: mechanism === undefined ? undefined : { mechanism, username: username ?? '', password: password ?? '' },
    topicPrefix,
  };
}

/** Reports settings that are only for Kafka. Without brokers, Weir would ignore them silently and start the embedded log. */
function reportKafkaWithoutBrokers(env: EnvReader, isTls: boolean): void {
  if (env.text('KAFKA_BROKERS') !== undefined) {
    env.problem('KAFKA_BROKERS contains no broker: write host:port pairs separated by commas, or remove the variable');
    return;
  }
  const names = [
    'KAFKA_TLS_CA_FILE',
    'KAFKA_SASL_MECHANISM',
    'KAFKA_SASL_USERNAME',
    'KAFKA_SASL_PASSWORD',
    'KAFKA_TOPIC_PREFIX',
  ];
  const set = names.filter((name) => env.text(name) !== undefined);
  if (isTls) set.unshift('KAFKA_TLS');
  if (set.length === 0) return;
  env.problem(
    `KAFKA_BROKERS is not set, but ${set.join(', ')}: without brokers, Weir uses the embedded event log. Set KAFKA_BROKERS, or remove the other settings of Kafka`,
  );
}

function readRedis(env: EnvReader): RedisConfig | undefined {
  const url = env.text('REDIS_URL');
  if (url === undefined) return undefined;
  try {
    readRedisUrl(url);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    env.problem(error.message);
  }
  const ca = readPem(env, 'REDIS_TLS_CA_FILE');
  if (ca !== undefined && !url.startsWith('rediss')) {
    env.problem(
      'REDIS_TLS_CA_FILE needs TLS: write a REDIS_URL that begins with rediss. Without TLS, passwords are sent unencrypted',
    );
  }
  return { url, tls: ca === undefined ? undefined : { ca }, sentinel: readSentinel(env, url) };
}

function readSentinel(env: EnvReader, url: string): RedisConfig['sentinel'] {
  const username = env.text('REDIS_SENTINEL_USERNAME') ?? '';
  const password = env.text('REDIS_SENTINEL_PASSWORD');
  if (password === undefined) {
    if (username !== '') env.problem('REDIS_SENTINEL_USERNAME needs REDIS_SENTINEL_PASSWORD');
    return undefined;
  }
  if (!/^rediss?\+sentinel:/.test(url)) {
    env.problem(
      'REDIS_SENTINEL_PASSWORD is only for Sentinels: write a REDIS_URL that begins with redis+sentinel or rediss+sentinel, or remove it',
    );
  }
  return { username, password };
}

function readClickhouse(env: EnvReader): ClickhouseConfig | undefined {
  const writer = readClickhouseUser(env, 'CLICKHOUSE_URL');
  const reader = readClickhouseUser(env, 'CLICKHOUSE_READER_URL') ?? writer;
  if (reader !== undefined && env.text('CLICKHOUSE_URL') === undefined) {
    env.problem('CLICKHOUSE_READER_URL needs CLICKHOUSE_URL');
  }
  const database = readName(env, 'CLICKHOUSE_DATABASE') ?? 'weir';
  const cluster = readName(env, 'CLICKHOUSE_CLUSTER');
  return writer === undefined || reader === undefined ? undefined : { writer, reader, database, cluster };
}

/** Reads `http(s)://user:password@host:port`. Returns undefined if the variable is not set or is invalid; reports an invalid one. */
function readClickhouseUser(env: EnvReader, name: string): ClickhouseUser | undefined {
  const raw = env.text(name);
  if (raw === undefined) return undefined;
  if (!URL.canParse(raw) || !/^https?:$/.test(new URL(raw).protocol)) {
    // The value may contain a password, so the message does not quote it.
    env.problem(`${name} must be http(s)://user:password@host:port`);
    return undefined;
  }
  const { protocol, host, username, password, pathname, search, hash } = new URL(raw);
  if (pathname !== '/' || search !== '' || hash !== '') {
    env.problem(
      `${name} must end after host:port, without a path or parameters: CLICKHOUSE_DATABASE sets the database, and a proxy in front of ClickHouse must answer at /`,
    );
    return undefined;
  }
  try {
    return {
      url: `${protocol}//${host}`,
      username: decodeURIComponent(username) || 'default',
      password: decodeURIComponent(password),
    };
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    env.problem(`${name}: a % in the user or the password must be written as %25`);
    return undefined;
  }
}

function readName(env: EnvReader, name: string): string | undefined {
  const value = env.text(name);
  if (value !== undefined && !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(value)) {
    env.problem(`${name} must be letters, digits and underscores, not "${value}"`);
  }
  return value;
}

function readPem(env: EnvReader, name: string): string | undefined {
  const file = env.text(name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    env.problem(`${name}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
