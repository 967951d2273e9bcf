import { DependencyError } from '@weir/domain/errors';

/**
 * The fence: the table `records` has one EPHEMERAL column whose name contains the generation of the tables (docs/glossary.md). The name is
 * `generation_<n>`, or `generation_<n>_closed` while tables are being exchanged. Each insert of the writer into the live tables names the column
 * `generation_<n>`. So ClickHouse refuses an insert that was planned for another generation. While the tables are closed, it refuses all inserts of
 * the writer.
 */
export interface Fence {
  readonly generation: number;
  readonly closed: boolean;
}

const FENCE = /^generation_(\d+)(_closed)?$/;
/** Finds the name of the column in ClickHouse's message about an unknown column. Such messages contain no values of rows. */
export const FENCE_IN_MESSAGE = /\bgeneration_\d+\b/;

export function fenceColumn(generation: number, closed = false): string {
  return `generation_${generation}${closed ? '_closed' : ''}`;
}

export type Select = <Row>(query: string, params?: Readonly<Record<string, unknown>>) => Promise<readonly Row[]>;

/** `database`: an SQL expression for the name of the database. */
const fenceQuery = (database: string): string =>
  `SELECT name FROM system.columns WHERE database = ${database} AND table = 'records' AND startsWith(name, 'generation_')`;

export async function readGeneration(select: Select): Promise<number> {
  const { generation, closed } = fenceOf(await select<{ name: string }>(fenceQuery('currentDatabase()')));
  if (closed) throw new DependencyError('generation_changed', 'the tables are being exchanged: ask again');
  return generation;
}

export async function readFence(select: Select, database: string): Promise<Fence> {
  return fenceOf(await select<{ name: string }>(fenceQuery('{database:String}'), { database }));
}

function fenceOf(columns: readonly { readonly name: string }[]): Fence {
  const [name = ''] = columns.map((column) => column.name);
  const [, generation, closed] = FENCE.exec(name) ?? [];
  if (generation === undefined || columns.length > 1) {
    throw new DependencyError(
      'analytics_unavailable',
      `the table records has ${columns.length} columns generation_<n>, not one: apply schemas/clickhouse/010_generation.sql`,
    );
  }
  return { generation: Number(generation), closed: closed !== undefined };
}

const LINE_END_CHARS = ']\n'.length;
const [COMMA, ZERO, BRACKET, LINE_FEED] = Buffer.from(',0]\n') as unknown as readonly [number, number, number, number];
const ADDED_CHARS = ',0'.length;

/** Joins the lines of an insert, and appends the value 0 to each for the fence column. */
export function withFenceValue(lines: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const line of lines) length += line.length + ADDED_CHARS;
  const body = Buffer.allocUnsafe(length);
  let at = 0;
  for (const line of lines) {
    body.set(line, at);
    at += line.length - LINE_END_CHARS;
    // Writes the end of the line byte by byte, because a second call of `set` would take as long as copying the whole line.
    body[at] = COMMA;
    body[at + 1] = ZERO;
    body[at + 2] = BRACKET;
    body[at + 3] = LINE_FEED;
    at += LINE_END_CHARS + ADDED_CHARS;
  }
  return body;
}
