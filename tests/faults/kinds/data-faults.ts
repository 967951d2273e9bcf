import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault } from '../suite/fault.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const MEBIBYTE = 1024 * 1024;
const DEEP = 10_000;

/** Values of raw records that no version of Weir writes. Each of them must become a dead letter. No other record may be affected. */
const POISON: readonly Uint8Array[] = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '[]',
  '{}',
  '"text"',
  'not JSON',
  '{"eventId":',
  '{"eventId":null,"kind":null,"siteId":null,"receivedAt":null}\n{}',
  '{"eventId":"00000000-0000-7000-8000-000000000000","kind":"event","siteId":"x","receivedAt":"x"}\n{}',
  '{"eventId":"00000000-0000-7000-8000-000000000000","kind":"from-the-future","siteId":"x","receivedAt":1760000000000}\n{}',
  '{"eventId":"00000000-0000-7000-8000-000000000000","kind":"event","siteId":"x","receivedAt":1e300}\n{"name":"x"}',
  '['.repeat(DEEP),
  `{"a":`.repeat(DEEP),
  'x'.repeat(MEBIBYTE),
  '\n'.repeat(1_000),
]
  .map((text) => Buffer.from(text))
  .concat([
    Buffer.from([0]),
    Buffer.from([0xff, 0xfe, 0x80]),
    Buffer.alloc(MEBIBYTE),
    Buffer.from('{"eventId":"\ud800"}'),
  ]);

const FAULTS: readonly Fault<Embedded>[] = [
  {
    name: 'poison-records',
    about: `${POISON.length} raw records that cannot be read are in the log, in every partition`,
    open: () => openEmbedded(),
    async strike({ weir }, { over, expectDeadLetters }) {
      await weir.kill9();
      const log = await openLmdbEventLog({
        folder: join(weir.dataDir, 'log'),
        partitions: 1,
        clock: Date.now,
        retentionMs: () => Number.MAX_SAFE_INTEGER,
      });
      const records = Array.from({ length: log.partitionCount }, (_, partition) =>
        POISON.map((value) => ({ partition, value })),
      ).flat();
      const outcomes = await log.append(TOPIC_RAW, records);
      await log.close();
      expectDeadLetters(outcomes.filter(({ status }) => status === 'stored').length);
      over();
      await weir.restart();
    },
  },
];

export const DATA_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
