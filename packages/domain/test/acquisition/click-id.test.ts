import { clickIdOf, isCampaignParameter } from '../../src/acquisition/click-id.ts';

const typeOf = (query: string) => clickIdOf(new URLSearchParams(query))?.type;

test.each(['ScCid', 'sccid', 'SCCID'])(
  'the type is the name of the parameter in lower case: %s is sccid',
  (parameter) => {
    expect(typeOf(`${parameter}=1`)).toBe('sccid');
    expect(isCampaignParameter(parameter)).toBe(true);
  },
);

test.each([
  ['fbclid=1&gclid=2', 'gclid'],
  ['gclid=1&fbclid=2', 'gclid'],
  ['igsh=1&x=2&FBCLID=3&awc=4', 'awc'],
  ['fbclid=1&mc_eid=2', 'mc_eid'],
])('%s: a click ID with a medium (%s) has priority over one without', (query, type) => {
  expect(typeOf(query)).toBe(type);
});

test.each([
  ['gclid=1&msclkid=2', 'gclid'],
  ['mc_eid=1&gclid=2', 'mc_eid'],
  ['igshid=1&fbclid=2', 'igshid'],
])('%s: otherwise, the first one counts (%s)', (query, type) => {
  expect(typeOf(query)).toBe(type);
});

test('a click ID without a value is ignored', () => {
  expect(typeOf('gclid=&fbclid=1')).toBe('fbclid');
  expect(typeOf('gclid=&x=1')).toBeUndefined();
});
