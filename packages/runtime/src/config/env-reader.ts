/** Reads environment variables and collects all problems. An empty variable counts as not set. */
export interface EnvReader {
  text(name: string): string | undefined;
  /** Reads an integer from `min` to `max`, both included. */
  whole(name: string, fallback: number, min: number, max: number): number;
  /** Reads a variable whose value must be `true` or `false`. */
  flag(name: string, fallback: boolean): boolean;
  /** Reads a variable whose value must be one of these words. */
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined;
  /** Reads comma-separated items and leaves out empty ones. */
  list(name: string): readonly string[];
  problem(text: string): void;
  readonly problems: readonly string[];
}

export function createEnvReader(env: Readonly<Record<string, string | undefined>>): EnvReader {
  const problems: string[] = [];
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;
  const oneOf = <Word extends string>(name: string, words: readonly Word[]): Word | undefined => {
    const raw = text(name);
    const word = words.find((candidate) => candidate === raw);
    if (raw !== undefined && word === undefined) {
      problems.push(`${name} must be one of ${words.join(', ')}, not "${raw}"`);
    }
    return word;
  };
  return {
    text,
    oneOf,
    whole(name, fallback, min, max) {
      const raw = text(name);
      if (raw === undefined) return fallback;
      const value = Number(raw);
      if (/^\d+$/.test(raw) && value >= min && value <= max) return value;
      problems.push(`${name} must be a whole number from ${min} to ${max}, not "${raw}"`);
      return fallback;
    },
    flag(name, fallback) {
      const word = oneOf(name, ['true', 'false']);
      return word === undefined ? fallback : word === 'true';
    },
    list(name) {
      return (text(name) ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
    },
    problem(text) {
      problems.push(text);
    },
    problems,
  };
}
