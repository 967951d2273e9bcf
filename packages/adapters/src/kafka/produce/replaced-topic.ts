import type { Logger } from '@weir/runtime/logger';
import type { RunOutcome } from './append-run.ts';

/** Detects that a topic was deleted and created again while this process appends to it: the new topic has another ID, and its offsets begin at 0. */
export interface ReplacedTopic {
  /**
   * Appends `count` records with `append`. If they get lower offsets than earlier records, the topic was replaced or has lost records. Their outcome
   * is then `unknown`, because they are stored, but with offsets that other records had. All later appends of this process are refused.
   */
  append(partition: number, count: number, append: () => Promise<RunOutcome>): Promise<RunOutcome>;
  /** `id`: the present ID of the topic. If the topic had another ID when the log was created, all later appends of this process are refused. */
  compare(id: string | undefined): void;
  /** Why appends are refused; undefined if they are not. */
  problem(): string | undefined;
}

export function watchForReplacement(topic: string, topicId: string | undefined, logger: Logger): ReplacedTopic {
  /** For each partition, one past the highest offset that a record of this process has got. */
  const ends = new Map<number, number>();
  let problem: string | undefined;

  function replaced(what: string): string {
    if (problem === undefined) {
      problem = `${what}. This process appends nothing more to it. What to do: docs/operations.md, "A topic was deleted"`;
      logger.error({ code: 'event_log_damaged' }, problem);
    }
    return problem;
  }

  return {
    problem: () => problem,
    compare(id) {
      if (id === undefined || topicId === undefined || id === topicId) return;
      replaced(
        `${topic} was deleted and created again: its ID is ${id}, and the topic of this log has the ID ${topicId}`,
      );
    },
    async append(partition, count, append) {
      if (problem !== undefined) return { status: 'refused', reason: problem };
      // Reads the end before the request: after a change of the leader, an answer of the new leader can arrive before an answer of the former one.
      // If the end was read after the answers, the lower offset in the late answer would look like a replaced topic.
      const end = ends.get(partition) ?? 0;
      const outcome = await append();
      if (outcome.status !== 'stored') return outcome;
      if (outcome.base < end) {
        const reason = replaced(
          `${topic}/${partition} had ${end} records, and now a record got the offset ${outcome.base}: the topic was deleted and created again, or it ` +
            'has lost records',
        );
        return { status: 'unknown', reason };
      }
      ends.set(partition, Math.max(ends.get(partition) ?? 0, outcome.base + count));
      return outcome;
    },
  };
}
