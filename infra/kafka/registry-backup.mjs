// Backs up the topic `registry` (docs/operations.md, "Backups"). Uses the settings KAFKA_* of Weir. The user must be able to read, append to
// and create the topic, and to use and delete consumer groups whose names begin with `weir-registry-backup-`.
//   node infra/kafka/registry-backup.mjs dump > registry.ndjson
//   node infra/kafka/registry-backup.mjs restore [--new-log] < registry.ndjson
// `restore` needs a topic without records, and creates it if it is missing. Use --new-log if the other topics were lost too: the log then
// gets a new ID. Each line is {"key": …, "value": …}; the file contains secrets of sites in plain text.
import { randomUUID } from 'node:crypto';
import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import kafkajs from 'kafkajs';
import { compressFrame, decompressFrame } from 'lz4-napi';
import { openKafka, topicPrefix } from './open-kafka.mjs';

const { CompressionCodecs, CompressionTypes, Partitioners } = kafkajs;
const topic = `${topicPrefix}registry`;
/** The beginning of the keys that belong to the log itself: its ID and its number of partitions. */
const OF_LOG = '\u0000';
/**
 * The beginnings of the keys that a dump leaves out. These rows are about a replay, with the positions and tables at the time of the dump. After a
 * restore, Weir must not continue that replay.
 */
const LEFT_OUT = ['replay/', 'pause/'];
const RECORDS_PER_REQUEST = 500;
const READ_WITHIN_MS = 120_000;
const STDOUT_FD = 1;

// Weir can compress records with LZ4 (KAFKA_COMPRESSION), and kafkajs has no LZ4 codec of its own.
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: ({ buffer }) => compressFrame(buffer),
  decompress: (packed) => decompressFrame(packed),
});

const [command, ...options] = process.argv.slice(2);
const isRestore = command === 'restore' && options.every((option) => option === '--new-log');
if (!isRestore && (command !== 'dump' || options.length > 0)) {
  fail('use: registry-backup.mjs dump > FILE, or restore [--new-log] < FILE');
}
const kafka = openKafka('registry-backup', 'weir-registry-backup');
const restored = isRestore ? await readRows(options.includes('--new-log')) : [];
const admin = kafka.admin();
await admin.connect();
try {
  if (isRestore) await restore(restored);
  else await dump();
} finally {
  await admin.disconnect();
}

async function edges() {
  const [partition] = await admin.fetchTopicOffsets(topic);
  return { low: Number(partition?.low ?? 0), high: Number(partition?.high ?? 0) };
}

/** Prints the last value of each key, in the order in which these values were written. Leaves out deleted keys and LEFT_OUT. */
async function dump() {
  const { low, high } = await edges();
  const rows = new Map();
  if (high > low) {
    await readTo(high, (key, value) => {
      rows.delete(key);
      if (value !== undefined) rows.set(key, value);
    });
  }
  const kept = [...rows].filter(([key]) => !LEFT_OUT.some((prefix) => key.startsWith(prefix)));
  // `restore` refuses such a dump. The registry of a Weir always has the ID of its log.
  if (kept.length === 0) fail(`${topic} has no rows: check KAFKA_BROKERS and KAFKA_TOPIC_PREFIX`);
  await print(kept.map(([key, value]) => `${JSON.stringify({ key, value })}\n`).join(''));
  console.error(`${kept.length} rows of ${topic}`);
}

/** Unlike console.log, this fails if not all of the text can be written, for example on a full disk. */
async function print(text) {
  const bytes = Buffer.from(text);
  try {
    const output = fstatSync(STDOUT_FD);
    if (output.isFile() || output.isCharacterDevice()) {
      // The stream of Node for files ignores the rest of a write that the system has cut off.
      for (let at = 0; at < bytes.length; ) at += writeSync(STDOUT_FD, bytes, at);
      return;
    }
    await new Promise((resolve, reject) => {
      process.stdout.once('error', reject);
      process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    fail(`the dump is incomplete, because it cannot be written: ${error.message}`);
  }
}

async function readTo(end, take) {
  const groupId = `weir-registry-backup-${randomUUID()}`;
  const consumer = kafka.consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  let timer;
  await new Promise((resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${topic} was not read up to ${end} in ${READ_WITHIN_MS} ms`)),
      READ_WITHIN_MS,
    );
    consumer.on(consumer.events.CRASH, ({ payload }) => payload.restart || reject(payload.error));
    // After a compaction, there can be no record at `end - 1`. kafkajs also emits this event for a batch without messages, and its last offset then
    // reaches `end - 1`.
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => Number(payload.lastOffset) >= end - 1 && resolve());
    consumer
      .run({
        autoCommit: false,
        eachMessage: async ({ message }) => take(String(message.key), message.value?.toString()),
      })
      .catch(reject);
  });
  clearTimeout(timer);
  await consumer.disconnect();
  await admin.deleteGroups([groupId]);
}

async function readRows(isNewLog) {
  const lines = createInterface({ input: process.stdin });
  const rows = [];
  let isEmpty = true;
  for await (const line of lines) {
    isEmpty = false;
    const { key, value } = readRow(line);
    if (typeof key !== 'string' || typeof value !== 'string') {
      fail(`not a row of a registry, or a row that was cut off: ${line.slice(0, 100)}`);
    }
    if (!isNewLog) rows.push({ key, value });
    else if (!key.startsWith(OF_LOG)) rows.push({ key, value: inNewLog(key, value) });
  }
  if (isEmpty)
    fail('the input has no rows: check that `dump` ended with exit code 0, and give its output as the standard input');
  return rows;
}

/** Returns an object without values if the line is not JSON. */
function readRow(line) {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}

/**
 * Removes offsets of the former log from an open erasure and from an expiry (a run of the retention), because the new log can have fewer records.
 * With these offsets, an erasure would wait without end, and an expiry would also apply to records of the new log below them. The time 0 in `at` says
 * that ClickHouse may have forgotten the deduplication token of the last insert of the expiry. The expiry then inserts only the missing rows, without
 * the token. It must not repeat this insert with the token, because the repeated insert would have other rows.
 */
function inNewLog(key, value) {
  if (key.startsWith('erasure/')) {
    const erasure = JSON.parse(value);
    if (erasure.phase === 'done') return value;
    if (erasure.ends !== undefined) erasure.ends = [];
    if (erasure.archiveEnds !== undefined) erasure.archiveEnds = {};
    return JSON.stringify(erasure);
  }
  if (key.startsWith('expiry/')) {
    const expiry = JSON.parse(value);
    expiry.ends = expiry.ends.map(() => 0);
    if (expiry.chunk !== undefined) expiry.chunk.at = 0;
    return JSON.stringify(expiry);
  }
  return value;
}

async function restore(rows) {
  await createTopic();
  const { low, high } = await edges();
  if (high > low) fail(`the topic ${topic} has records: stop all processes of Weir, delete the topic, and try again`);
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, maxInFlightRequests: 1 });
  await producer.connect();
  for (let at = 0; at < rows.length; at += RECORDS_PER_REQUEST) {
    const messages = rows.slice(at, at + RECORDS_PER_REQUEST).map((row) => ({ ...row, partition: 0 }));
    await producer.send({ topic, acks: -1, messages });
  }
  await producer.disconnect();
  console.error(`restored ${rows.length} rows of ${topic}`);
}

async function createTopic() {
  if ((await admin.listTopics()).includes(topic)) return;
  const spec = JSON.parse(readFileSync(new URL('./topics.json', import.meta.url), 'utf8'));
  const { brokers } = await admin.describeCluster();
  const replicationFactor = Math.min(spec.replicationFactor, brokers.length);
  const config = {
    ...spec.topics.registry.config,
    'min.insync.replicas': Math.min(spec.minInsyncReplicas, replicationFactor),
  };
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value: String(value) }));
  await admin.createTopics({
    waitForLeaders: true,
    topics: [{ topic, numPartitions: 1, replicationFactor, configEntries }],
  });
}

function fail(message) {
  console.error(`registry-backup: ${message}`);
  process.exit(2);
}
