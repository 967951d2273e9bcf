export interface Compared {
  /** The number of values (texts, numbers, null and so on) that were compared. A value that only one of the two answers has counts too. */
  readonly values: number;
  /** For each difference: where it is, and both values. */
  readonly differences: readonly string[];
}

/** Compares two JSON values completely. The order of a list counts, the order of the fields of an object does not. */
export function compareAnswers(one: unknown, other: unknown, at = ''): Compared {
  if (!isBranch(one) || !isBranch(other) || Array.isArray(one) !== Array.isArray(other)) {
    const isEqual = !isBranch(one) && !isBranch(other) && one === other;
    return { values: 1, differences: isEqual ? [] : [`${at}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`] };
  }
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const parts = names.map((name) => compareAnswers(one[name], other[name], `${at}/${name}`));
  return {
    values: parts.reduce((sum, { values }) => sum + values, 0),
    differences: parts.flatMap(({ differences }) => differences),
  };
}

const isBranch = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
