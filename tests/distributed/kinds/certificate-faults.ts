import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { duration } from '../../faults/suite/connection-faults.ts';
import type { Fault } from '../../faults/suite/fault.ts';
import { CLUSTERED, type Clustered, VALID_MS } from '../cluster/clustered-subject.ts';
import { othersTakeOver } from './take-over.ts';

/** How long the certificate of the fault is valid. */
const EXPIRES_MS = 2_000;
/** The test waits this much longer than the certificate is valid, so that it has expired by every clock. */
const SURELY_EXPIRED_MS = 1_500;

type Engine = keyof Clustered['ways'];
const SHOWN: Readonly<Record<Engine, string>> = { kafka: 'Kafka', redis: 'Redis', clickhouse: 'ClickHouse' };

/** `isKept`: whether Weir keeps its connections to the engine open. For ClickHouse this is false: Weir opens connections when it needs them. */
const expires = (engine: Engine, isKept: boolean): Fault<Clustered> => ({
  ...{ ...CLUSTERED, name: `${engine}-certificate-expired` },
  about: `the certificate of ${SHOWN[engine]} expires: ${isKept ? 'connections continue; after a reset, ' : ''}new ones are refused until it is renewed`,
  async strike(broken, round) {
    // After the last round, a process can still be connecting again. It could not connect with the expired certificate. So the test waits until all
    // processes work.
    if (isKept) await othersTakeOver(broken, round);
    const ways = broken.ways[engine];
    const before = ways.map(({ front }) => front.expired());
    const certificate = broken.authority.issue(EXPIRES_MS);
    for (const { front } of ways) front.present(certificate);
    await pause(certificate.validUntil - Date.now() + SURELY_EXPIRED_MS);
    try {
      if (isKept) await othersTakeOver(broken, round);
      for (const { proxy } of ways) proxy.set('away');
      for (const { proxy } of ways) proxy.set('pass');
      await eventually(`Weir to refuse the certificate of ${SHOWN[engine]}`, () =>
        ways.every(({ front }, nth) => front.expired().refused > (before[nth]?.refused ?? 0)),
      );
      await duration(round);
      const used = ways.reduce((sum, { front }, nth) => sum + front.expired().used - (before[nth]?.used ?? 0), 0);
      if (used > 0) round.found(`${used} new connections to ${SHOWN[engine]} used the expired certificate`);
    } finally {
      const renewed = broken.authority.issue(VALID_MS);
      for (const { front } of ways) front.present(renewed);
    }
  },
});

export const CERTIFICATE_FAULTS: readonly Fault<Clustered>[] = [
  expires('kafka', true),
  expires('redis', true),
  expires('clickhouse', false),
];
