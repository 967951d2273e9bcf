import { PANELS } from '../src/overview/panel-list.ts';
import { readReportState } from '../src/reports/report-state.ts';
import { bundlePages } from './rendered-page.ts';

const ADDRESS = '/dashboard/sites/s/overview';
const props = {
  panel: PANELS.find(({ id }) => id === 'places'),
  state: readReportState(new URLSearchParams()),
};

test('the map is requested together with the report of the countries, which are listed until the map is there', async () => {
  const { render } = await bundlePages('overview/panel.tsx');
  const waiting = render('Panel', ADDRESS, {}, props);
  expect(waiting.asked.map(([id]) => id)).toEqual(expect.arrayContaining(['breakdown', 'map']));
  const countries = ['DE', 'FR', 'IT', 'ES', 'PT', 'NL', 'BE', 'AT', 'CH', 'PL'];
  const rows = countries.map((value) => ({ value, visitors: 1 }));
  const { html } = render('Panel', ADDRESS, { breakdown: { rows, has_more: false } }, props);
  expect(html.match(/class="bar-row"/g)).toHaveLength(9);
  expect(html).toContain('Germany');
  expect(html).not.toContain('skeleton');
});
