import { importEventIds } from '@weir/domain/access-log-event-id';
import { normalizeIp } from '@weir/domain/ip-address';
import { cookielessPartitionKey } from '@weir/domain/partition-key';
import { encodeRawRecord } from '@weir/domain/raw-record';
import { TOPIC_RAW } from '@weir/domain/topics';
import type { AppendRecord } from '@weir/ports/event-log';
import type { ControlDeps } from '../control-deps.ts';
import type { ImportHit } from './import-chunk.ts';

export type AppendHits = 'stored' | 'refused' | 'unknown';

/** Appends hits as raw records of kind `import`, in order. `unknown`: some of them may be in the log, or come to be. */
export async function appendHits(
  deps: Pick<ControlDeps, 'eventLog' | 'clock'>,
  siteId: string,
  fileDigest: string,
  hits: readonly ImportHit[],
): Promise<AppendHits> {
  if (hits.length === 0) return 'stored';
  const eventId = importEventIds(siteId, fileDigest);
  const receivedAt = deps.clock();
  const records = hits.map((hit): AppendRecord => {
    const ip = normalizeIp(hit.ip);
    const head = {
      eventId: eventId(hit.line),
      kind: 'import',
      siteId,
      receivedAt,
      ip,
      userAgent: hit.user_agent,
      acceptLanguage: '',
    } as const;
    // The shape of a cookieless page view of the browser, with the time that only a log knows.
    const body = {
      site_id: siteId,
      visitor_id: '',
      session_id: '',
      type: 'pageview',
      url: hit.url,
      ...(hit.referrer === '' ? {} : { referrer: hit.referrer }),
      timestamp: hit.timestamp,
    };
    return {
      key: cookielessPartitionKey(siteId, ip, hit.user_agent),
      value: encodeRawRecord(head, JSON.stringify(body)),
    };
  });
  const outcomes = await deps.eventLog.append(TOPIC_RAW, records);
  if (outcomes.some(({ status }) => status === 'unknown')) return 'unknown';
  return outcomes.every(({ status }) => status === 'stored') ? 'stored' : 'refused';
}
