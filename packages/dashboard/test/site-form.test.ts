import type { Answer } from '../src/api/call-admin.ts';
import { changesOf, formOf, removesRows } from '../src/settings/site-form.ts';

const SITE = {
  site_id: 's',
  name: 'Site',
  domain: 'example.com',
  timezone: 'UTC',
  keep: { events: '400d', profiles: null, rollups: null },
  limits: { collect: 100 },
  query_allow: null,
} as unknown as Answer<'readSite'>;

test.each([
  [{}, {}],
  [formOf(SITE), {}],
  [{ name: ' Site ' }, {}],
  [{ name: 'New' }, { name: 'New' }],
  [{ 'keep.events': '2y' }, { keep: { events: '2y' } }],
  [{ 'keep.events': '' }, { keep: { events: null } }],
  [{ 'limits.collect': '', 'limits.events': '5' }, { limits: { collect: null, events: 5 } }],
  [{ allow: 'a, b' }, { query_allow: ['a', 'b'] }],
  [{ allow: '' }, { query_allow: [] }],
] as const)('the edits %j send only %j', (edits, body) => {
  expect(changesOf(SITE, edits)).toEqual(body);
});

test.each([
  [{}, false],
  [{ name: 'New' }, false],
  [{ keep: { events: 'forever', rollups: 'forever' } }, false],
  [{ keep: { events: 'forever', profiles: '30d' } }, true],
  [{ keep: { events: null } }, true],
] as const)('the change %j can remove rows: %s', (change, removes) => {
  expect(removesRows(change)).toBe(removes);
});
