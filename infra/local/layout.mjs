import { resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
/** The jars of Kafka. They are downloaded once and shared by all instances. */
export const KAFKA_JARS = resolve(ROOT, '.cache/services/kafka-4.3.1');
export const KAFKA_PYTHON = resolve(ROOT, '.cache/python/kafka-python-2.2.15');
export const DEFAULT_DIR = resolve(ROOT, '.cache/services/run');

/** Prints to standard error, because the standard output of `services.mjs up` may contain only lines with `export`. */
export function say(text) {
  process.stderr.write(`${text}\n`);
}
