import { randomBytes } from 'node:crypto';
import { appendHits } from '@weir/control/imports/append-hits';
import { readAccessLogLine } from '@weir/domain/access-log/access-log';
import type { AppendRecord, EventLog, StoredRecord } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { readAccessLog } from '@weir/testkit/sample-access-log';

export const SITE = {
  siteId: 'bench',
  name: 'bench',
  domain: 'www.example.com',
  timezone: 'UTC',
  limits: {},
  createdAt: 0,
} as const;

export interface Traffic {
  readonly origin: 'real' | 'generated';
  /**
   * Returns the pageviews of the access log as raw records, as an import would append them. The addresses are encrypted with the key of the
   * registry. The event IDs are computed from `file`, instead of from the digest of the file.
   */
  rawRecords(file: string, registry: Registry): Promise<readonly AppendRecord[]>;
}

/** Reads the access log that WEIR_TEST_ACCESS_LOG names. Without this variable, generates a log in the same format. */
export function readTraffic(): Traffic {
  const { text, origin } = readAccessLog();
  const hits = text.split('\n').flatMap((line, index) => {
    const read = readAccessLogLine(line, { format: undefined, domain: SITE.domain });
    if (read.kind !== 'hit') return [];
    const { timestamp, ip, userAgent = '', url, referrer } = read.hit;
    return [{ line: index + 1, timestamp, ip, user_agent: userAgent, url, referrer }];
  });
  return {
    origin,
    async rawRecords(file, registry) {
      const addressSealer = createAddressSealer({ registry, randomBytes });
      const kept: AppendRecord[] = [];
      const keeper: Pick<EventLog, 'append'> = {
        async append(_topic, records) {
          kept.push(...records);
          return records.map((_, offset) => ({ status: 'stored', partition: 0, offset }));
        },
      };
      const deps = { eventLog: keeper as EventLog, addressSealer, clock: Date.now };
      await appendHits(deps, SITE.siteId, file, hits);
      return kept;
    },
  };
}

export function asStored(records: readonly AppendRecord[]): readonly StoredRecord[] {
  const appendedAt = Date.now();
  return records.map(({ value }, offset) => ({ offset, value, headers: {}, appendedAt }));
}
