import type { DropReason } from '@weir/domain/records/outcome';
import type { ExclusionType } from '@weir/domain/registry/site';
import { useOpened } from '@weir/testkit/use-opened';
import { IP, NOW, openEnrichHarness, pageview, SITE } from './enrich-harness.ts';

const harness = useOpened(openEnrichHarness);

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const hit = { body: pageview({ url: 'https://shop.example.com/admin/users/7', visitor_id: 'v9' }) };

/** Each case has a drop reason, the type and the value of an exclusion rule, a hit that the rule drops, and one that it does not drop. */
const CASES: readonly (readonly [DropReason, ExclusionType, string, object, object])[] = [
  ['excluded_ip', 'ip', '81.2.0.0/16', hit, { ...hit, ip: '81.3.69.142' }],
  ['excluded_path', 'path', '/admin/*', hit, { body: pageview({ url: 'https://example.com/user/admin/' }) }],
  ['excluded_hostname', 'hostname', 'Shop.example.com', hit, { body: pageview() }],
  ['excluded_country', 'country', 'gb', hit, { ...hit, ip: '8.8.8.8' }],
  ['excluded_user_agent', 'user_agent', 'chrome/126', hit, { ...hit, userAgent: GOOGLEBOT }],
  ['excluded_visitor', 'visitor', 'v9', hit, { body: pageview() }],
  ['excluded_bots', 'bots', '', { ...hit, userAgent: GOOGLEBOT }, hit],
];

test.each(CASES)('%s', async (reason, type, value, dropped, kept) => {
  const ruleId = await harness.exclude(type, value);
  const [line, other] = await harness.enrich(dropped as typeof hit, kept as typeof hit);
  expect(line).toMatchObject({ outcome: 'dropped', reason, rule_id: ruleId, site_id: SITE, received_at: NOW });
  expect(other?.outcome).toBe('row');
  await harness.registry.removeExclusion(SITE, ruleId);
  const [back] = await harness.enrich(dropped as typeof hit);
  expect(back?.outcome).toBe('row');
});

test('rules drop collect hits of every type and imported hits, never server events', async () => {
  const ruleId = await harness.exclude('ip', IP);
  const lines = await harness.enrich(
    hit,
    { body: pageview({ type: 'event', event_name: 'e' }) },
    { body: pageview({ type: 'identify', identity: { user_id: 'u' } }) },
    { kind: 'import', body: { url: 'https://example.com/', timestamp: NOW } },
    { kind: 'event', body: { name: 'e', context: { ip: IP } } },
    { kind: 'identify', body: { visitor_id: 'v', user_id: 'u' } },
  );
  expect(lines.map((line) => line.outcome)).toEqual(['dropped', 'dropped', 'dropped', 'dropped', 'row', 'identify']);
  await harness.registry.removeExclusion(SITE, ruleId);
});

test('a dropped hit leaves only its outcome and drop reason: no other data, no session, no link', async () => {
  const ruleId = await harness.exclude('hostname', 'example.com');
  const secret = pageview({ type: 'identify', visitor_id: 'secret', identity: { user_id: 'hidden', email: 'a@b.c' } });
  const [line] = await harness.enrich({ body: secret });
  expect(JSON.stringify(line)).not.toMatch(/secret|hidden|a@b\.c|example\.com|London/);
  await harness.registry.removeExclusion(SITE, ruleId);
  const [event] = await harness.enrich({ kind: 'event', body: { name: 'e', user_id: 'hidden' } });
  expect(event?.visitor_id).toBe('');
});

test('identity_unverified: an identify without a valid signature is dropped; one with a valid signature is marked', async () => {
  const body = pageview({ type: 'identify', visitor_id: 'v7', identity: { user_id: 'forged', email: 'a@b.c' } });
  const [refused, plain, signed] = await harness.enrich(
    { body, identityProof: 'refused' },
    { body },
    { body, identityProof: 'signed' },
  );
  expect(refused).toMatchObject({ outcome: 'dropped', reason: 'identity_unverified', rule_id: '', detail: '' });
  expect(JSON.stringify(refused)).not.toMatch(/forged|v7|a@b/);
  expect([plain?.outcome, signed?.outcome]).toEqual(['identify', 'identify']);
  expect(JSON.parse(String(plain?.detail))).not.toHaveProperty('signed');
  expect(JSON.parse(String(signed?.detail))).toMatchObject({ user_id: 'forged', signed: true });
});

describe('site_removed', () => {
  const record = (siteId: string, receivedAt: number) => ({ siteId, receivedAt, body: pageview({ site_id: siteId }) });

  test('drops a record whose site was removed after the gateway had accepted it', async () => {
    await harness.registry.putSite({
      siteId: 'old',
      name: '',
      domain: 'o.com',
      timezone: 'UTC',
      limits: {},
      createdAt: NOW,
    });
    const [before] = await harness.enrich(record('old', NOW));
    await harness.registry.removeSite('old');
    const [after] = await harness.enrich(record('old', NOW));
    expect([before?.outcome, after?.outcome, after?.reason]).toEqual(['row', 'dropped', 'site_removed']);
  });
});
