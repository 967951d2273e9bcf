import { PANELS } from '../src/overview/panel-list.ts';
import { weirCommand } from '../src/reports/command-text.ts';
import { commandQuery, queryOfReport, type Report } from '../src/reports/report-request-view.ts';
import { readReportState } from '../src/reports/report-state.ts';

const stats = (address: string): Report => ({ id: 'stats', state: readReportState(new URLSearchParams(address)) });
const tabs = PANELS.flatMap((panel) => panel.tabs);
const list = (address: string, dimension: string): Report => {
  const tab = tabs.find(({ id }) => id === dimension);
  if (tab === undefined) throw new Error(`there is no tab ${dimension}`);
  return { id: 'breakdown', state: readReportState(new URLSearchParams(address)), tab, dimension };
};

test.each([
  ['', 'weir stats shop --period 30d --compare previous_period'],
  ['period=7d&compare=previous_year', 'weir stats shop --period 7d --compare previous_year'],
  ['period=7d&compare=none&bots=include', 'weir stats shop --period 7d --bots'],
  ['period=all&interval=month', 'weir stats shop --period all --interval month'],
  [
    "from=2026-03-01&to=2026-03-02&filter=page:is:/o'brien",
    "weir stats shop --from 2026-03-01 --to 2026-03-02 --filter 'page:is:/o'\\''brien' --compare previous_period",
  ],
])('with the address ?%s, the totals and the chart are copied as %s', (address, command) => {
  expect(weirCommand('stats', 'shop', commandQuery(stats(address)))).toBe(command);
});

test.each([
  ['period=7d&compare=previous_year', 'page', 'weir breakdown shop --period 7d --by page --order visitors:desc'],
  ['period=7d', 'bot', 'weir breakdown shop --period 7d --bots --by bot --order pageviews:desc'],
])('with the address ?%s, the list of the dimension %s is copied as %s', (address, dimension, command) => {
  expect(weirCommand('breakdown', 'shop', commandQuery(list(address, dimension)))).toBe(command);
});

test('the query for SQL, the explanation and CSV has no comparison', () => {
  expect(queryOfReport(stats('period=7d&interval=day'))).toEqual({ period: '7d', interval: 'day' });
});
