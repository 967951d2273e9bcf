/** A statement of `explain=1` as text for the SQL console: the values of its parameters follow as a comment. */
export const statementText = ({
  of,
  sql,
  params,
}: {
  readonly of: string;
  readonly sql: string;
  readonly params: object;
}): string => `-- ${of}\n${sql}\n-- params: ${JSON.stringify(params)}`;
