import { importEventIds } from '@weir/domain/access-log/import-event-ids';
import { normalizeIp } from '@weir/domain/net/ip-address';
import { cookielessPartitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import type { AppendRecord } from '@weir/ports/event-log';
import type { ControlDeps } from '../control-deps.ts';
import { type AppendHits, appendRaw } from './append-result.ts';
import type { ImportHit } from './import-chunk.ts';

/** Appends hits as raw records of kind `import`, in order. `unknown`: some of the records may be in the log, or may still arrive there. */
export async function appendHits(
  deps: Pick<ControlDeps, 'eventLog' | 'addressSealer' | 'clock'>,
  siteId: string,
  fileDigest: string,
  hits: readonly ImportHit[],
): Promise<AppendHits> {
  if (hits.length === 0) return 'stored';
  const eventId = importEventIds(siteId, fileDigest);
  const receivedAt = deps.clock();
  const records: AppendRecord[] = [];
  for (const hit of hits) {
    const ip = normalizeIp(hit.ip);
    const sealed = deps.addressSealer.seal(ip, receivedAt);
    const sealedIp = typeof sealed === 'string' ? sealed : await sealed;
    if (sealedIp === undefined) return 'refused';
    // A hit with an empty user agent counts as a bot. But some access logs have no field for the user agent. Hits from such a log must not count as
    // bots, so their bodies get `user_agent_known: false`.
    const hasNoField = hit.user_agent === undefined;
    const userAgent = hit.user_agent ?? '';
    const head = {
      eventId: eventId(hit.line),
      kind: 'import',
      siteId,
      receivedAt,
      sealedIp,
      userAgent,
      acceptLanguage: '',
    } as const;
    // This body is like that of a cookieless pageview from a browser, but has the time from the access log.
    const body = {
      site_id: siteId,
      visitor_id: '',
      session_id: '',
      type: 'pageview',
      url: hit.url,
      ...(hit.referrer === '' ? {} : { referrer: hit.referrer }),
      timestamp: hit.timestamp,
      ...(hasNoField ? { user_agent_known: false } : {}),
    };
    records.push({
      key: cookielessPartitionKey(siteId, ip, userAgent),
      value: encodeRawRecord(head, JSON.stringify(body)),
    });
  }
  return appendRaw(deps.eventLog, records);
}
