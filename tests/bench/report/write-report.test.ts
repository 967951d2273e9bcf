import { type Result, renewedPage } from './write-report.ts';

const resultOf = (name: string, figure: string): Result => ({
  scenario: { name, about: `about ${name}`, rounds: 1, run: () => Promise.reject(new Error('not run')) },
  findings: {
    tables: [{ head: ['what', 'µs'], rows: [['one request', figure]] }],
    targets: [{ what: `target of ${name}`, wanted: '<= 2', found: figure, met: false }],
    notes: ['a note'],
  },
  load: 'the machine was quiet',
});
const headings = (page: string): string[] => [...page.matchAll(/^## (.*)$/gm)].map(([, name = '']) => name);

test('only the sections of the results are replaced, in their place, and new ones are added at the end', () => {
  const first = renewedPage('', [resultOf('gateway', '1.5'), resultOf('enrich', '3.5')], 'machine A', '2026-01-01');
  const second = renewedPage(first, [resultOf('gateway', '2.5'), resultOf('write', '4.5')], 'machine B', '2026-02-02');
  expect(headings(second)).toEqual(['gateway', 'enrich', 'write']);
  const [, gateway, enrich] = second.split(/^(?=## )/m);
  expect(gateway).toContain('| one request | 2.5 |');
  expect(gateway).toContain('| target of gateway | <= 2 | 2.5 | **missed** |');
  expect(gateway).toContain('2026-02-02. This section was measured on that date, on machine B.');
  expect(second).not.toContain('1.5');
  expect(first).toContain(enrich?.trimEnd());
  expect(renewedPage(second, [], 'machine C', '2026-03-03')).toBe(second);
});
