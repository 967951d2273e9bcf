import { eventually } from '@weir/testkit/eventually';
import type { ClickhouseProxies } from './clickhouse-proxies.ts';
import { connectionFaults, duration, type Opening } from './connection-faults.ts';
import type { Fault, Subject } from './fault.ts';
import type { Refusal } from './refusing-proxy.ts';

const REFUSALS_MIN = 3;

export interface BehindProxies extends Subject {
  readonly clickhouse: ClickhouseProxies;
}

const REFUSALS: readonly (readonly [name: string, about: string, error: Refusal])[] = [
  ['memory', 'ClickHouse refuses inserts, because it has no memory', { code: 241, name: 'MEMORY_LIMIT_EXCEEDED' }],
  [
    'busy',
    'ClickHouse refuses inserts, because too many queries run',
    { code: 202, name: 'TOO_MANY_SIMULTANEOUS_QUERIES' },
  ],
  ['locked', 'ClickHouse refuses inserts, because the table is locked', { code: 473, name: 'DEADLOCK_AVOIDED' }],
  [
    'read-only',
    'ClickHouse refuses inserts, because the table is read-only',
    { code: 242, name: 'TABLE_IS_READ_ONLY' },
  ],
  ['stopping', 'ClickHouse refuses inserts, because it shuts down', { code: 236, name: 'ABORTED' }],
];

/** The faults of a Weir that reaches ClickHouse through proxies: on one machine or in a distributed deployment. */
export function clickhouseBehindProxies<Broken extends BehindProxies>(
  opening: Opening<Broken>,
): readonly Fault<Broken>[] {
  return [
    ...connectionFaults({ name: 'clickhouse', from: 'Weir', to: 'ClickHouse' }, opening, ({ clickhouse }) => [
      clickhouse.proxy,
    ]),
    ...REFUSALS.map(
      ([name, about, error]): Fault<Broken> => ({
        ...{ ...opening, name: `clickhouse-${name}`, about },
        async strike({ clickhouse: { http } }, { random }) {
          http.disturb({ kind: 'refused', error });
          const times = REFUSALS_MIN + Math.floor(random() * REFUSALS_MIN);
          await eventually('inserts to be refused', () => http.disturbed() >= times);
          http.disturb(undefined);
        },
      }),
    ),
    {
      ...{ ...opening, name: 'too-many-parts' },
      about: '`records` has too many parts, and ClickHouse refuses inserts',
      async strike({ clickhouse: { statement } }, round) {
        const errors = async (): Promise<number> =>
          Number(await statement("SELECT sum(value) FROM system.errors WHERE name = 'TOO_MANY_PARTS'"));
        const before = await errors();
        await statement('ALTER TABLE weir.records MODIFY SETTING parts_to_throw_insert = 1');
        await duration(round);
        await eventually('ClickHouse to refuse an insert', async () => (await errors()) > before);
        await statement('ALTER TABLE weir.records RESET SETTING parts_to_throw_insert');
      },
    },
  ];
}
