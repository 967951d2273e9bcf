/** A statement of `explain=1` as text for the page SQL, which reads the values of the parameters from the last line. */
export const statementText = ({
  of,
  sql,
  params,
}: {
  readonly of: string;
  readonly sql: string;
  readonly params: object;
}): string => `-- ${of}\n${sql}\n-- params: ${JSON.stringify(params)}`;

/**
 * A text of the page SQL, without its last line if this line has the parameters. `params`: undefined if the last line does not begin with
 * `-- params:`. `isWrong`: the last line begins with `-- params:`, but no JSON object follows; `params` is then undefined too.
 */
interface ReadStatement {
  readonly query: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly isWrong?: true;
}

/** Reads a statement with an optional last line `-- params: {"name": value}`. */
export function readStatement(text: string): ReadStatement {
  const query = text.trim();
  const [line, json = ''] = /(?:^|\n)[ \t]*--[ \t]*params:([^\n]*)$/.exec(query) ?? [];
  if (line === undefined) return { query };
  const params = parseObject(json);
  return params === undefined ? { query, isWrong: true } : { query: query.slice(0, -line.length).trim(), params };
}

function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
