import type { WeirClient } from '@weir/testkit/weir-client';

export const METRICS = [
  'visitors',
  'visits',
  'pageviews',
  'events',
  'bounce_rate',
  'visit_duration',
  'views_per_visit',
] as const;
export type Numbers = Readonly<Record<(typeof METRICS)[number], number | null>>;

export interface ApiAnswer {
  readonly totals?: Numbers;
  readonly buckets?: readonly (Numbers & { readonly start: string })[];
  readonly rows?: readonly (Numbers & { readonly value: string })[];
  readonly comparison?: {
    readonly totals: Numbers;
    readonly buckets: readonly (Numbers & { readonly start: string })[];
  };
  readonly explain: {
    readonly statements: readonly { readonly of: string; readonly sql: string; readonly params: object }[];
  };
}

/** The decimals to which the admin API rounds. docs/stats.md states them. */
const DECIMALS: Readonly<Record<string, number>> = { bounce_rate: 4, visit_duration: 2, views_per_visit: 2 };

/**
 * Runs the SQL of an answer through `POST /api/admin/sql`, and computes the numbers from its rows. Returns one text for each number of the answer
 * that differs. `metrics`: the numbers of each row of a breakdown.
 */
export async function differencesFromSql(
  client: WeirClient,
  answer: ApiAnswer,
  { limit, metrics = METRICS }: { readonly limit: number; readonly metrics?: readonly string[] | undefined },
): Promise<readonly string[]> {
  const differences: string[] = [];
  const compare = (
    of: string,
    what: string,
    found: Numbers | undefined,
    row: Readonly<Record<string, unknown>> | undefined,
  ): void => {
    if (found === undefined) {
      differences.push(`${what} is missing`);
      return;
    }
    const wanted = numbersOf(row);
    for (const name of METRICS) {
      if (of === 'breakdown' && !metrics.includes(name)) continue;
      if (!isRounded(found[name], wanted[name], DECIMALS[name] ?? 0)) {
        differences.push(`${what} ${name}: ${found[name]}, SQL: ${wanted[name]}`);
      }
    }
  };
  for (const { of, sql, params } of answer.explain.statements) {
    const rows = await client.sql(sql, params);
    if (of === 'breakdown') {
      const shown = rows.slice(0, limit);
      const values = (answer.rows ?? []).map(({ value }) => value);
      if (JSON.stringify(values) !== JSON.stringify(shown.map(({ name }) => String(name)))) {
        differences.push(`values: ${JSON.stringify(values)}, SQL: ${JSON.stringify(shown)}`);
      }
      for (const row of shown) {
        const found = answer.rows?.find(({ value }) => value === String(row.name));
        compare(of, `value ${JSON.stringify(row.name)}`, found, row);
      }
      continue;
    }
    const part = of === 'stats' ? answer : answer.comparison;
    const total = rows.find((row) => Number(row.is_total) === 1);
    compare(of, `${of} totals`, part?.totals, total);
    const ofBucket = new Map(rows.filter((row) => row !== total).map((row) => [Number(row.bucket), row]));
    for (const bucket of part?.buckets ?? []) {
      const start = Date.parse(bucket.start);
      compare(of, `${of} ${bucket.start}`, bucket, ofBucket.get(start));
      ofBucket.delete(start);
    }
    for (const left of ofBucket.keys()) differences.push(`${of}: no bucket ${left}, which SQL returns`);
  }
  return differences;
}

/** Computes the numbers from a row with counts. Without a row, all counts are 0. */
function numbersOf(row: Readonly<Record<string, unknown>> = {}): Numbers {
  const count = (name: string): number => Number(row[name] ?? 0);
  const visits = count('visits');
  const perVisit = (name: string): number | null => (visits === 0 ? null : count(name) / visits);
  return {
    ...{ visitors: count('visitors'), visits, pageviews: count('pageviews'), events: count('events') },
    ...{ bounce_rate: perVisit('bounces'), visit_duration: perVisit('seconds'), views_per_visit: perVisit('views') },
  };
}

function isRounded(found: number | null, exact: number | null, decimals: number): boolean {
  if (found === null || exact === null) return found === exact;
  return Math.abs(found - exact) <= (decimals === 0 ? 0 : 0.5 * 10 ** -decimals + 1e-9);
}
