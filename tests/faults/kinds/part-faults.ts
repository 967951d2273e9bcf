import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault } from '../suite/fault.ts';
import { findParts, type PartEvent } from '../suite/part-watch.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

/** The table of a materialized view of `records`. Each insert into `records` stores a part in this table first, and then in `records`. */
const TABLE_OF_A_VIEW = 'books_sums';
/** The fault happens at one of the next NTH_MAX part events (part-watch.ts), chosen at random. */
const NTH_MAX = 5;

const atPart = (
  name: string,
  about: string,
  table: string,
  event: PartEvent,
  kill: (weir: Embedded['weir'], clickhouse: number) => void,
): Fault<Embedded> => ({
  ...{ name, about },
  open: () => openEmbedded(),
  shares: 'plain',
  async strike(broken, { random, over }) {
    const { weir } = broken;
    const next = await findParts(broken, table);
    const clickhouse = weir.clickhousePid();
    for (let left = Math.floor(random() * NTH_MAX); left > 0; left--) await next(event, () => undefined);
    await next(event, () => kill(weir, clickhouse));
    over();
    if (kill !== killGroup) return;
    await weir.kill9();
    await weir.restart();
  },
});

const killGroup = (weir: Embedded['weir']): void => void weir.kill9();
const killClickhouse = (_: Embedded['weir'], clickhouse: number): void => void process.kill(clickhouse, 'SIGKILL');

const FAULTS: readonly Fault<Embedded>[] = [
  atPart(
    'kill-in-insert',
    '`kill -9` of the whole process group when an insert has stored its part in the table of a view, and not yet in `records`',
    TABLE_OF_A_VIEW,
    'stored',
    killGroup,
  ),
  atPart(
    'kill-clickhouse-in-insert',
    '`kill -9` of the ClickHouse process while it writes the part of an insert',
    'records',
    'insert begins',
    killClickhouse,
  ),
  atPart(
    'kill-clickhouse-in-merge',
    '`kill -9` of the ClickHouse process while it merges parts of `records`',
    'records',
    'merge begins',
    killClickhouse,
  ),
];

export const PART_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
