import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import type { SteadyTables } from '../steady-tables.ts';

/**
 * The event ID in the payload of a dead letter. The payload is either a raw record, which begins with its event ID, or a row that ClickHouse refused,
 * whose fifth column is the event ID.
 */
const EVENT_ID = `extract(payload, '^(?:[[]"[^"]*","[^"]*","[^"]*","[^"]*",|[{]"eventId":)"([0-9A-Fa-f-]{36})"')`;

/**
 * Returns those of the event IDs that belong to dead letters (docs/glossary.md) that can be redriven. An import must not append the records of these
 * events again: the event would be stored twice if the dead letter is redriven or if a replay can process it. A dead letter whose record is not in
 * `events.raw` any more cannot be redriven, so it does not count. An insert that is running may not have filled the table of dead letters yet.
 */
export async function findLetterIds(
  { eventLog, tables }: { readonly eventLog: EventLog; readonly tables: Pick<SteadyTables, 'read'> },
  siteId: string,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const query = `SELECT DISTINCT ${EVENT_ID} AS id, raw_partition AS partition, raw_offset AS offset
    FROM dead_letter_attempts
    WHERE site_id = {site:String} AND outcome = 'dead' AND log_id = {log:String} AND id IN {ids:Array(String)}`;
  const letters = await tables.read(({ select }) =>
    select<{ id: string; partition: number; offset: number | string }>(query, {
      site: siteId,
      log: eventLog.logId,
      ids: eventIds,
    }),
  );
  // Nearly always, no letter is found. The positions, for which Kafka needs a request, are then not read.
  if (letters.length === 0) return new Set();
  const positions = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
  const firsts = new Map(positions.map(({ partition, first }) => [partition, first]));
  const kept = letters.filter(({ partition, offset }) => Number(offset) >= (firsts.get(partition) ?? 0));
  return new Set(kept.map(({ id }) => id));
}
