// Reads events.enriched as objects: KAFKA_BROKERS=127.0.0.1:9092 npx tsx examples/consume-enriched.ts
import { decodeEnriched } from '@weir/records';
import kafkajs from 'kafkajs';

const { KAFKA_BROKERS = '127.0.0.1:9092', KAFKA_TOPIC_PREFIX = '' } = process.env;
const kafka = new kafkajs.Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: kafkajs.logLevel.ERROR });
const consumer = kafka.consumer({ groupId: 'consume-enriched-example' });

// The highest raw offset of each partition so far. Weir can append some outcomes a second time; this program skips the repeats. Store the
// offsets with your results, so that they survive a restart.
const highest = new Map<string, number>();

await consumer.connect();
await consumer.subscribe({ topic: `${KAFKA_TOPIC_PREFIX}events.enriched`, fromBeginning: true });
await consumer.run({
  eachMessage: async ({ message }) => {
    const event = decodeEnriched(message.headers ?? {}, message.value);
    const place = `${event.log_id}/${event.raw_partition}`;
    if (event.raw_offset <= (highest.get(place) ?? -1)) return;
    highest.set(place, event.raw_offset);
    if (event.outcome !== 'row') return;
    console.log(JSON.stringify({ site: event.site_id, name: event.event_name || event.type, path: event.pathname }));
  },
});

process.once('SIGTERM', () => void consumer.disconnect());
