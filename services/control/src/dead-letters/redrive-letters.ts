import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { AppendRecord } from '@weir/ports/event-log';
import type { AdminDeps } from '../control-deps.ts';
import { conflict, type Reply, unavailable } from '../http/admin-reply.ts';
import { waitUntilVisible } from '../imports/wait-until-stored.ts';
import { hideSecrets } from './hide-secrets.ts';
import { letterId } from './letter-filter.ts';
import { letterRecord } from './letter-record.ts';
import { readOutcomes, type StoredLetter } from './stored-letters.ts';

/** The result of redriving one dead letter (docs/glossary.md). `result` is the outcome of its new record, or the reason why there is no outcome. */
export interface LetterResult {
  readonly letter_id: string;
  readonly result: 'would_redrive' | 'refused' | 'pending' | 'redriven_before' | 'not_found' | Outcome;
  /** Why the dead letter cannot be redriven, why its new record failed or was dropped, or that this record is not stored yet. Otherwise null. */
  readonly problem: string | null;
}

type Outcome = 'stored' | 'duplicate' | 'dropped' | 'erased' | 'dead';

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  row: 'stored',
  identify: 'stored',
  duplicate: 'duplicate',
  dropped: 'dropped',
  erased: 'erased',
  dead: 'dead',
};

export const WAITING = 'waiting until the pipeline has stored all records of the log: send it again';
export const REPLAYS =
  'there is a replay, which would store redriven records twice: redrive them after weir replay drop (the replay itself processes dead letters again)';
/** Records are appended in groups of about this size, which Kafka certainly accepts. A single record can be larger. */
const APPEND_BYTES_MAX = 1024 * 1024;

/**
 * Appends a new record for each dead letter, and waits for the outcomes of the new records. With `isDryRun`, it appends nothing. Read the letters
 * after `waitUntilVisible`, so that their `attempts` are up to date. The process may be killed at any moment: a record that was appended is
 * processed anyway, and a letter whose record was not appended stays unchanged. If two new records of one letter have the same attempt number, the
 * second one becomes a duplicate.
 */
export async function redriveLetters(
  deps: AdminDeps,
  letters: readonly StoredLetter[],
  isDryRun: boolean,
): Promise<readonly LetterResult[] | Reply> {
  const made = await Promise.all(letters.map(async (letter) => ({ letter, record: await letterRecord(deps, letter) })));
  const records = made.flatMap(({ record }) => (typeof record === 'string' ? [] : [record]));
  if (!isDryRun && records.length > 0) {
    const problem = await append(deps, records);
    if (problem !== undefined) return problem;
    await waitUntilVisible(deps);
  }
  const appended = made.flatMap(({ letter, record }) =>
    typeof record === 'string' ? [] : [{ ...letter, attempt: letter.attempts + 1 }],
  );
  const outcomes = isDryRun ? new Map() : await deps.tables.read((tables) => readOutcomes(tables, appended));
  return made.map(({ letter, record }): LetterResult => {
    const letter_id = letterId(letter);
    if (typeof record === 'string') return { letter_id, result: 'refused', problem: record };
    if (isDryRun) return { letter_id, result: 'would_redrive', problem: null };
    const found = outcomes.get(letter_id);
    if (found === undefined) return { letter_id, result: 'pending', problem: 'its new record is not stored yet' };
    const result = OUTCOMES[found.outcome] ?? 'pending';
    return { letter_id, result, problem: problemOf(result, found) };
  });
}

function problemOf(result: LetterResult['result'], found: { readonly reason: string; readonly error: string }) {
  if (result === 'dead') return hideSecrets(found.error);
  return result === 'dropped' ? found.reason : null;
}

/**
 * Appends the records in their order. Returns an error reply if the log did not store all of them. A replay reads the list of redriven letters when
 * it begins (redriven-rows.ts), so no letter may be redriven after that. A replay can begin while this function runs, also in another process. So
 * this function reads the registry to its end and checks for a replay before each append.
 */
async function append(
  { eventLog, registry }: Pick<AdminDeps, 'eventLog' | 'registry'>,
  records: readonly AppendRecord[],
): Promise<Reply | undefined> {
  for (let first = 0; first < records.length; ) {
    let bytes = 0;
    let end = first;
    while (end < records.length && (end === first || bytes < APPEND_BYTES_MAX)) {
      bytes += (records[end] as AppendRecord).value.byteLength;
      end += 1;
    }
    await registry.catchUp();
    if (registry.replay() !== undefined) return conflict(REPLAYS);
    const outcomes = await eventLog.append(TOPIC_RAW, records.slice(first, end));
    const failed = outcomes.find(({ status }) => status !== 'stored');
    if (failed !== undefined) {
      return unavailable(
        `the event log did not store all records (${failed.status}): send it again, it redrives no letter twice`,
      );
    }
    first = end;
  }
  return undefined;
}
