import { type Command, InvalidArgumentError } from 'commander';
import { type CommandContext, withExamples } from '../command-context.ts';
import { print, table } from '../output.ts';

interface SqlResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

interface SqlOptions {
  readonly json?: boolean;
  readonly param: Readonly<Record<string, string>>;
}

const NUMBER_TYPE = /^(Nullable\()?(U?Int|Float|Decimal)/;

export function addSqlCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    program.command('sql <query>').description('run a read-only SQL query on the analytics tables: up to 100,000 rows'),
    "weir sql 'SELECT pathname, count() AS hits FROM events GROUP BY pathname ORDER BY hits DESC LIMIT 10'",
    "weir sql 'SELECT country, uniq(visitor_id) AS visitors FROM events WHERE site_id = {site:String} GROUP BY country' --param site=shop",
    "weir sql 'SELECT * FROM sessions LIMIT 5' --json",
  )
    .option('--param <name=value>', 'value of {name:Type} in the query; can be repeated', readParam, {})
    .action(async (query: string, { json, param }: SqlOptions) => {
      const result = await client().call<SqlResult>('POST', '/sql', { query, params: param });
      print(io, json, result, ({ columns, rows }) => {
        const cell = (
          row: Readonly<Record<string, unknown>>,
          { name, type }: SqlResult['columns'][number],
        ): unknown => {
          const value = row[name];
          return NUMBER_TYPE.test(type) && typeof value === 'string' && Number.isSafeInteger(Number(value))
            ? Number(value)
            : value;
        };
        const cells = rows.map((row) => columns.map((column) => cell(row, column)));
        return table(
          columns.map(({ name }) => name),
          cells,
          'no rows',
        );
      });
    });
}

function readParam(text: string, earlier: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write it as name=value.');
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}
