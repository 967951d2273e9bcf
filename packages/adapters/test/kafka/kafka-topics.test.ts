import topicsJson from '../../../../infra/kafka/topics.json' with { type: 'json' };
import type { KafkaLink } from '../../src/kafka/kafka-link.ts';
import { createKafkaTopics, type TopicsSpec } from '../../src/kafka/kafka-topics.ts';

const SPEC = topicsJson as TopicsSpec;

/** The values of `min.insync.replicas` that `drift` reports for topics with these settings. A real test would need as many brokers as replicas. */
async function reported(minInsyncReplicas: string, replicaCount: number): Promise<readonly string[]> {
  const replicas = Array.from({ length: replicaCount }, (_, broker) => broker);
  const entries = [{ configName: 'min.insync.replicas', configValue: minInsyncReplicas }];
  const cluster = {
    refreshMetadata: async () => undefined,
    findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 0, replicas, isr: replicas }],
    findControllerBroker: async () => ({
      describeConfigs: async ({ resources }: { resources: readonly { name: string }[] }) => ({
        resources: resources.map(({ name }) => ({ resourceName: name, configEntries: entries })),
      }),
    }),
  };
  const run = (work: (given: unknown) => unknown) => work(cluster);
  const link = { run, close: async () => undefined } as unknown as KafkaLink;
  const topics = createKafkaTopics({
    spec: SPEC,
    topicPrefix: '',
    openLink: () => link,
    partitions: 1,
    retentionMs: {},
  });
  const found = (await topics.drift()).filter(({ setting }) => setting === 'min.insync.replicas');
  return [...new Set(found.map((drift) => drift.found))];
}

test.each([
  ['1', 4, ['1']],
  ['2', 3, []],
  ['3', 4, []],
  ['4', 5, []],
  // Appends would stop when one broker restarts.
  ['3', 3, ['3']],
  ['', 3, ['']],
] as const)('min.insync.replicas=%s with %i replicas', async (minInsyncReplicas, replicaCount, expected) => {
  expect(await reported(minInsyncReplicas, replicaCount)).toEqual(expected);
});
