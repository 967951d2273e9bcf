import type { Cluster } from 'kafkajs';
import { type KafkaLink, withRetry } from './kafka-link.ts';
import { controllerPlace, sendRequest, supportsVersion } from './kafkajs-private.ts';

const METADATA = 3;
/** The first version of the metadata request whose answer has topic IDs, from Kafka 2.8. kafkajs supports only versions up to 6. */
const VERSION = 10;
const ATTEMPTS = 10;
const ID_BYTES = 16;
/**
 * Brokers with an `inter.broker.protocol.version` before 2.8 answer the request with this ID, which consists of zeros (KIP-516). Versions of Weir
 * up to November 2026 stored this ID in the registry.
 */
export const NO_TOPIC_ID = Buffer.alloc(ID_BYTES).toString('base64url');

/**
 * Reads the ID of a topic. Kafka gives each topic a random ID when it is created, so a topic that was deleted and created again has another ID.
 * Resolves with undefined if the brokers have no topic IDs. Rejects with kafkajs's error, or if the topic does not exist.
 */
export function readTopicId(link: KafkaLink, topic: string): Promise<string | undefined> {
  const find = async (cluster: Cluster) => {
    const place = controllerPlace(cluster);
    if (place === undefined) throw new Error('the brokers have no controller');
    return place;
  };
  return withRetry(link, ATTEMPTS, find, async (broker) => {
    if (!supportsVersion(broker, METADATA, VERSION)) return undefined;
    return topicIdIn(await sendRequest(broker, METADATA, VERSION, metadataRequest(topic)));
  });
}

/** Returns the end of the request's header (no tagged fields) and the request's body. */
function metadataRequest(topic: string): Buffer {
  const name = Buffer.from(topic);
  const head = [0, /* one topic */ 2, ...Buffer.alloc(ID_BYTES)];
  const creates = [/* no automatic creation, no authorized operations */ 0, 0, 0];
  return Buffer.concat([Buffer.from([...head, ...varint(name.length + 1)]), name, Buffer.from([0, ...creates, 0])]);
}

/** Reads the topic's ID from the answer. The format: https://kafka.apache.org/protocol.html, Metadata Response (Version: 10) */
export function topicIdIn(answer: Buffer): string | undefined {
  const read = createReader(answer);
  read.taggedFields();
  read.skip(4); // throttle time
  for (let left = read.count(); left > 0; left--) {
    read.skip(4); // node ID
    read.skip(read.count()); // host
    read.skip(4); // port
    read.skip(read.count()); // rack
    read.taggedFields();
  }
  read.skip(read.count()); // cluster ID
  read.skip(4); // controller ID
  read.count(); // topics, of which there is one
  const errorCode = read.int16();
  if (errorCode !== 0) throw new Error(`the brokers do not know the topic: error ${errorCode}`);
  read.skip(read.count()); // name
  const id = read.skip(ID_BYTES).toString('base64url');
  return id === NO_TOPIC_ID ? undefined : id;
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}

function createReader(bytes: Buffer) {
  let at = 0;
  const skip = (count: number): Buffer => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  const unsignedVarint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = skip(1).readUInt8();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  return {
    skip,
    int16: () => skip(2).readInt16BE(),
    /** The length of a compact string or array. A null has the length 0. */
    count: () => Math.max(0, unsignedVarint() - 1),
    taggedFields(): void {
      for (let left = unsignedVarint(); left > 0; left--) {
        unsignedVarint();
        skip(unsignedVarint());
      }
    },
  };
}
