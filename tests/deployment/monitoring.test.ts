import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, readJson, readSources, readText, readYaml } from './read-files.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const rules = readYaml<{ groups: { rules: Rule[] }[] }>('infra/prometheus/alerts.yml').groups.flatMap(
  (group) => group.rules,
);
const { panels } = readJson<{ panels: Panel[] }>('infra/grafana/weir.json');
const drawn = panels.filter(({ type }) => type !== 'row');
// The folders with tests are left out: a name that only a test contains is not a metric.
const folders = readdirSync(join(ROOT, 'services')).map((service) => `services/${service}/src`);
const source = [...folders, 'packages/runtime/src'].map((folder) => readSources(folder)).join('\n');

/** All names in quotes that begin with `weir_`: the metrics that the code creates, and a few other names. */
const made = new Set([...source.matchAll(/'(weir_[a-z0-9_]+)'/g)].map(([, name = '']) => name));
const used = (expr: string): readonly string[] => [...expr.matchAll(/\bweir_[a-z0-9_]+/g)].map(([name]) => name);
const isMade = (name: string): boolean => made.has(name) || made.has(name.replace(/_(bucket|sum|count)$/, ''));

const expressions: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...drawn.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
];

test.each(expressions)('%s uses only metrics and labels of Weir', (_title, expr) => {
  expect(used(expr).filter((name) => !isMade(name))).toEqual([]);
  const labels = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const known = [
    'role',
    'partition',
    'code',
    'endpoint',
    'status',
    'outcome',
    'call',
    'disk',
    'engine',
    'le',
    'instance',
    'site_id',
    'kind',
    'work',
  ];
  expect(labels.filter((label) => !known.includes(label))).toEqual([]);
  for (const [open, close] of ['()', '{}', '[]']) {
    expect(expr.split(open ?? '').length).toBe(expr.split(close ?? '').length);
  }
});

test('every alert has a description and a severity', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { labels, annotations } of rules) {
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(annotations.summary.length).toBeGreaterThan(20);
  }
});

test('the most serious problems have a page alert', () => {
  const paging = rules.filter(({ labels }) => labels.severity === 'page').flatMap(({ expr }) => used(expr));
  expect(paging).toEqual(
    expect.arrayContaining([
      'weir_partition_alarm',
      'weir_engine_drift',
      'weir_http_requests_total',
      'weir_registry_unread_seconds',
    ]),
  );
});

test('each metric that must stay 0 (docs/operations.md) has an alert', () => {
  const zero = [...readText('docs/operations.md').matchAll(/`(weir_[a-z0-9_]+)` must stay 0/g)].map(([, name]) => name);
  expect(zero.length).toBeGreaterThan(0);
  expect(rules.flatMap(({ expr }) => used(expr))).toEqual(expect.arrayContaining(zero));
});

test('each role of docker-compose.yml has a page alert if no process has this role', () => {
  const missing = rules.find(({ alert }) => alert === 'WeirRoleMissing');
  expect(missing?.labels.severity).toBe('page');
  const roles = [...(missing?.expr ?? '').matchAll(/"(gateway|enricher|writer|control)"/g)].map(([, role]) => role);
  expect(roles.sort()).toEqual(['control', 'enricher', 'gateway', 'writer']);
});

test('two refused requests do not page, also if there are few requests', () => {
  const { expr = '' } = rules.find(({ alert }) => alert === 'WeirGatewayRefuses') ?? {};
  const [, limit] =
    /\band sum\(increase\(weir_http_requests_total\{[^}]*status="503"\}\[5m\]\)\) > ([\d.]+)/.exec(expr) ?? [];
  // With a scrape in each minute, Prometheus extrapolates an increase over four minutes to five.
  expect(Number(limit)).toBeGreaterThanOrEqual((2 * 5) / 4);
  expect(Number(limit)).toBeLessThan(3);
});

test('the delays of all roles have an alert; only those of the archiver do not page', () => {
  const delays = rules.filter(({ expr }) => expr.includes('weir_consume_delay_seconds'));
  expect(delays.map(({ alert, expr, labels }) => [alert, /\{role(.*?)\}/.exec(expr)?.[1], labels.severity])).toEqual([
    ['WeirBehind', '!~"(replay|archiver).*"', 'page'],
    ['WeirArchiverBehind', '=~"archiver.*"', 'ticket'],
  ]);
});

test('failures of the rate limiter have an alert', () => {
  expect(rules.flatMap(({ expr }) => used(expr))).toContain('weir_rate_limiter_failures_total');
});

test('an archiver of one partition whose requests time out has an alert: it fails once in 20 s', () => {
  const { expr = '' } = rules.find(({ alert }) => alert === 'WeirConsumeFailures') ?? {};
  const [, limit] = /role=~"archiver\.\*"\}\[5m\]\)\) > ([\d.]+)/.exec(expr) ?? [];
  expect(Number(limit)).toBeLessThan(1 / 20);
});

test('panels do not overlap, and each has a unique ID', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(drawn.every(({ gridPos }) => gridPos.x + gridPos.w <= 24)).toBe(true);
});
