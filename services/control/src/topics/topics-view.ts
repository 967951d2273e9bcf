import { TABLE_REGISTRY } from '@weir/domain/records/topics';
import type { EventLog, PartitionPosition } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { ControlDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { type LogTopic, TOPICS } from './shown-topics.ts';

/** Describes the content of each topic. Rejects with `event_log_unavailable`. */
export async function topicsView(deps: Pick<ControlDeps, 'eventLog' | 'registry' | 'retention'>): Promise<object[]> {
  const views: object[] = [];
  for (const topic of TOPICS) {
    if (topic.kind === 'log') {
      views.push(await logView(deps.eventLog, topic, topic.retentionHours(deps.retention)));
      continue;
    }
    // Salts are secret, so even their number is not shown.
    const records = topic.name === TABLE_REGISTRY ? countRows(deps.registry) : null;
    views.push({ name: topic.name, kind: topic.kind, records, retention_hours: null, partitions: [] });
  }
  return views;
}

async function logView(eventLog: EventLog, { name, kind, group }: LogTopic, retentionHours: number): Promise<object> {
  const partitions = [];
  // Reads one partition after the other to limit the memory: even for one record, the log can return a large batch.
  for (const position of await eventLog.positions(name, group)) {
    partitions.push(await partitionView(eventLog, name, position));
  }
  const records = partitions.reduce((sum, partition) => sum + partition.records, 0);
  return { name, kind, records, retention_hours: retentionHours, partitions };
}

async function partitionView(eventLog: EventLog, topic: string, { partition, first, end }: PartitionPosition) {
  const timeAt = async (offset: number): Promise<string | null> => {
    const [record] = first === end ? [] : await eventLog.read(topic, partition, offset, 1);
    return record === undefined ? null : formatTime(record.appendedAt);
  };
  return {
    partition,
    records: end - first,
    first_offset: first,
    end_offset: end,
    first_at: await timeAt(first),
    last_at: await timeAt(end - 1),
  };
}

function countRows(registry: Registry): number {
  return registry.sites().reduce((sum, { siteId }) => {
    return (
      sum +
      1 +
      registry.keys(siteId).length +
      registry.exclusions(siteId).length +
      registry.goals(siteId).length +
      registry.imports(siteId).length
    );
  }, 0);
}
