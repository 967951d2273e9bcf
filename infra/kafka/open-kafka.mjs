import { readFileSync } from 'node:fs';
import kafkajs from 'kafkajs';

const { env } = process;

/** The prefix of the name of every topic. */
export const topicPrefix = env.KAFKA_TOPIC_PREFIX ?? '';

/** Returns a client with the settings KAFKA_* of Weir. Ends `program` with exit code 2 if KAFKA_BROKERS is not set. */
export function openKafka(program, clientId) {
  if (!env.KAFKA_BROKERS) {
    console.error(`${program}: KAFKA_BROKERS is not set: set it, and the other settings KAFKA_*, as for Weir`);
    process.exit(2);
  }
  const ca = env.KAFKA_TLS_CA_FILE ? readFileSync(env.KAFKA_TLS_CA_FILE, 'utf8') : undefined;
  return new kafkajs.Kafka({
    clientId,
    brokers: env.KAFKA_BROKERS.split(',').map((broker) => broker.trim()),
    ...(env.KAFKA_TLS === 'true' ? { ssl: ca === undefined ? true : { ca } } : {}),
    ...(env.KAFKA_SASL_USERNAME
      ? {
          sasl: {
            mechanism: env.KAFKA_SASL_MECHANISM || 'plain',
            username: env.KAFKA_SASL_USERNAME,
            password: env.KAFKA_SASL_PASSWORD,
          },
        }
      : {}),
    logLevel: kafkajs.logLevel.ERROR,
  });
}
