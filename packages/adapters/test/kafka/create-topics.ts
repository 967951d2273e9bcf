import { eventually } from '@weir/testkit/eventually';
import type { Admin, ITopicConfig } from 'kafkajs';

/**
 * Creates topics. Resolves when a broker knows a leader of each partition. Does not use kafkajs's option `waitForLeaders`, with which `createTopics`
 * rejects if the broker does not know the new topics yet.
 */
export async function createTopics(admin: Admin, topics: readonly ITopicConfig[]): Promise<void> {
  await admin.createTopics({ topics: [...topics], waitForLeaders: false });
  await eventually('the leaders of the new topics', async () => {
    const found = await admin.fetchTopicMetadata({ topics: topics.map(({ topic }) => topic) });
    return found.topics.every(
      ({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0),
    );
  });
}
