import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLateTraffic, LATE_HOURS_MAX, LATE_SHARE } from './late-traffic.ts';

const HOUR_MS = 3600_000;
const END_MS = Date.UTC(2026, 10, 28);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-late-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const traffic = createLateTraffic({ rows: 20_000, seed: 1, endMs: END_MS });
const linesOf = (write: (file: string) => void): readonly string[] => {
  const file = join(folder, 'access.log');
  write(file);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
};
const timeOf = (line: string): number => {
  const [, date = '', time = ''] = /\[(\S+?):(\S+) \+0000\]/.exec(line) ?? [];
  return Date.parse(`${date.replaceAll('/', ' ')} ${time} UTC`);
};

it('writes the same lines in two orders: by time, and with late lines', () => {
  const ordered = linesOf(traffic.writeOrdered);
  const late = linesOf(traffic.writeLate);
  expect(ordered).toHaveLength(traffic.rows);
  expect([...late].sort()).toEqual([...ordered].sort());
  const times = ordered.map(timeOf);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(times.at(-1)).toBeLessThan(END_MS);

  const overtaken = late
    .map(timeOf)
    .reduce(
      ({ newest, lags }, at) => ({ newest: Math.max(newest, at), lags: at < newest ? [...lags, newest - at] : lags }),
      { newest: 0, lags: [] as number[] },
    );
  expect(overtaken.lags.length / traffic.rows).toBeGreaterThan(LATE_SHARE * 0.8);
  expect(overtaken.lags.length).toBeLessThanOrEqual(traffic.late);
  expect(Math.max(...overtaken.lags)).toBeGreaterThan((LATE_HOURS_MAX - 1) * HOUR_MS);
  expect(Math.max(...overtaken.lags)).toBeLessThanOrEqual(LATE_HOURS_MAX * HOUR_MS);
});

it('counts the visits of people: page views of one address without a pause of more than 30 minutes', () => {
  const last = new Map<string, number>();
  let visits = 0;
  let pageviews = 0;
  for (const line of linesOf(traffic.writeOrdered)) {
    if (line.includes('Googlebot')) continue;
    const [address = ''] = line.split(' ');
    pageviews++;
    if (timeOf(line) - (last.get(address) ?? 0) > 30 * 60_000) visits++;
    last.set(address, timeOf(line));
  }
  expect({ visits, pageviews }).toEqual({ visits: traffic.visits, pageviews: traffic.pageviews });
});
