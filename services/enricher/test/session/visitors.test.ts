import { namedEntries } from '@weir/domain/erasure/tombstone';
import { profileId } from '@weir/domain/people/profile-id';
import { useOpened } from '@weir/testkit/use-opened';
import { NOW, openEnrichHarness, pageview, type RawInput, SITE } from '../pipeline/enrich-harness.ts';

const HOUR_MS = 3600_000;
const harness = useOpened(openEnrichHarness);

describe('drop-duplicate (docs/exactly-once.md)', () => {
  const event = (key: string, receivedAt: number) =>
    ({ kind: 'event', receivedAt, body: { name: 'e', idempotency_key: key } }) as const;

  test('a record is a duplicate only of another record that was received less than 24 h before', async () => {
    const outcomes = await harness.enrich(event('k1', NOW), event('k1', NOW + 24 * HOUR_MS - 1), event('k2', NOW));
    expect(outcomes.map((line) => line.outcome)).toEqual(['row', 'duplicate', 'row']);
    const [later] = await harness.enrich(event('k1', NOW + 24 * HOUR_MS));
    expect(later?.outcome).toBe('row');
  });

  test('a duplicate leaves only its outcome', async () => {
    const [, line] = await harness.enrich(event('k3', NOW), event('k3', NOW));
    expect(line).toMatchObject({ outcome: 'duplicate', reason: '', event_name: '', idempotency_key: '', detail: '' });
  });
});

describe('link-visitor (docs/api.md, Linking)', () => {
  test('an event with only a user_id gets the visitor that the user was last identified on', async () => {
    const event = { kind: 'event', body: { name: 'e', user_id: 'u1' } } as const;
    const identify = (visitor: string) =>
      ({ kind: 'identify', body: { visitor_id: visitor, user_id: 'u1', email: 'a@b.c', plan: null } }) as const;
    const lines = await harness.enrich(event, identify('va'), event, identify('vb'), event);
    expect(lines.map((line) => line.visitor_id)).toEqual(['', 'va', 'va', 'vb', 'vb']);
    expect(lines[1]).toMatchObject({ outcome: 'identify', source: 'server', user_id: 'u1' });
    expect(JSON.parse(lines[1]?.detail as string)).toEqual({
      profile_id: profileId(SITE, 'u1'),
      user_id: 'u1',
      email: 'a@b.c',
      traits: { plan: null },
    });
    const [next] = await harness.enrich(event);
    expect(next?.visitor_id).toBe('vb');
  });

  test('an identify of the browser links too; with an empty visitor_id it only stores the profile', async () => {
    const hit = (visitor: string) => ({
      body: pageview({ type: 'identify', visitor_id: visitor, session_id: '', identity: { user_id: 'u2', name: 'N' } }),
    });
    const event = { kind: 'event', body: { name: 'e', user_id: 'u2' } } as const;
    const lines = await harness.enrich(hit(''), event, hit('vc'), event);
    expect(lines.map(({ outcome, visitor_id }) => [outcome, visitor_id])).toEqual([
      ['identify', ''],
      ['row', ''],
      ['identify', 'vc'],
      ['row', 'vc'],
    ]);
    expect(JSON.parse(lines[0]?.detail as string)).toEqual({
      profile_id: profileId(SITE, 'u2'),
      user_id: 'u2',
      name: 'N',
    });
  });

  test('an unlink removes one link, and keeps another link of the same user (decision 13)', async () => {
    const event = { kind: 'event', body: { name: 'e', user_id: 'u3' } } as const;
    const say = (kind: 'identify' | 'unlink', visitor: string) =>
      ({ kind, body: { visitor_id: visitor, user_id: 'u3' } }) as const;
    const lines = await harness.enrich(
      ...[say('identify', 'vd'), event, say('unlink', 'other'), event, say('unlink', 'vd'), event],
      ...[say('identify', 've'), event],
    );
    const shown = lines.map(({ outcome, reason, visitor_id }) => [outcome, reason, visitor_id].join(' '));
    expect(shown).toEqual([
      ...['identify  vd', 'row  vd', 'identify unlink other', 'row  vd', 'identify unlink vd', 'row  '],
      ...['identify  ve', 'row  ve'],
    ]);
    expect(JSON.parse(lines[4]?.detail as string)).toEqual({ profile_id: profileId(SITE, 'u3'), user_id: 'u3' });
    expect(lines[4]).toMatchObject({ source: 'server', type: 'unlink', user_id: 'u3', session_id: '' });
    // The link is also removed from the state that is kept between batches.
    await harness.enrich(say('unlink', 've'));
    expect((await harness.enrich(event))[0]).toMatchObject({ outcome: 'row', visitor_id: '' });
  });

  test('an event that was received before the erasure of the visitor of its user is erased', async () => {
    const entries = namedEntries('salt', SITE, ['vh'], []);
    const tombstone = { siteId: SITE, erasureId: 'e', part: 0, at: NOW, salt: 'salt', whole: false, entries };
    const event = (receivedAt: number) =>
      ({ kind: 'event', receivedAt, body: { name: 'e', user_id: 'u5', properties: { a: 1 } } }) as const;
    // The user is identified on the visitor again after the erasure, so the state has the link.
    const identify = { kind: 'identify', receivedAt: NOW + 1, body: { visitor_id: 'vh', user_id: 'u5' } } as const;
    await harness.registry.putTombstone(tombstone);
    const lines = await harness.enrich(identify, event(NOW), event(NOW + 2));
    const shown = lines.map((line) => [line.outcome, line.visitor_id, line.user_id, line.properties]);
    expect(shown).toEqual([
      ['identify', 'vh', 'u5', {}],
      ['erased', '', '', {}],
      ['row', 'vh', 'u5', { a: 1 }],
    ]);
  });

  test('an unlink without a visitor or a user is a dead letter', async () => {
    const lines = await harness.enrich(
      { kind: 'unlink', body: { visitor_id: 'v' } },
      { kind: 'unlink', body: { user_id: 'u' } },
    );
    expect(lines.map(({ outcome }) => outcome)).toEqual(['dead', 'dead']);
  });

  test('the row of a server event shows how its visitor and session were found, and keeps a number that a Float64 would round', async () => {
    const at = NOW + HOUR_MS;
    const lines = await harness.enrich(
      { kind: 'identify', body: { visitor_id: 'vf', user_id: 'u4' } },
      { kind: 'event', body: { name: 'e', user_id: 'u4', value: 2 ** 53 } },
      { receivedAt: at, body: pageview({ visitor_id: 'vg', session_id: 'sg' }) },
      { kind: 'event', receivedAt: at, body: { name: 'e', visitor_id: 'vg' } },
      { kind: 'event', receivedAt: at, body: { name: 'e', visitor_id: 'vg', session_id: 'sg', value: 19.99 } },
    );
    expect(lines.map(({ detail }) => detail)).toEqual([
      expect.any(String),
      '{"user_visitor":true,"number":"9007199254740992"}',
      '',
      '{"visit_session":true}',
      '',
    ]);
  });

  test('a visitor_id that was sent wins over the link, and external_id links no visitor', async () => {
    const [line] = await harness.enrich({ kind: 'event', body: { name: 'e', visitor_id: 'vz', user_id: 'u1' } });
    expect(line).toMatchObject({ visitor_id: 'vz', user_id: 'u1' });
    const [other] = await harness.enrich({ kind: 'event', body: { name: 'e', external_id: 'u1' } });
    expect(other).toMatchObject({ visitor_id: '', properties: { external_id: 'u1' } });
  });
});

describe('put-visitor: cookieless (docs/api.md, POST /api/collect)', () => {
  const hit = (fields: { ip?: string; userAgent?: string; receivedAt?: number } = {}) => ({
    ...fields,
    body: pageview({ visitor_id: '', session_id: '' }),
  });

  test('the ID is c_ and 16 bytes in hex; one address and user agent has one ID per day', async () => {
    const lines = await harness.enrich(hit(), hit(), hit({ ip: '81.2.69.143' }), hit({ userAgent: 'Other/1' }));
    const [first, second, third, fourth] = lines.map((line) => line.visitor_id as string);
    expect(first).toMatch(/^c_[0-9a-f]{32}$/);
    expect(lines[0]?.cookieless).toBe(true);
    expect(second).toBe(first);
    expect(new Set([first, third, fourth]).size).toBe(3);
  });

  test('all IPv6 addresses of a /64 network have the same ID', async () => {
    const [a, b, c] = await harness.enrich(
      hit({ ip: '2001:db8:1:2::1' }),
      hit({ ip: '2001:db8:1:2:ffff::9' }),
      hit({ ip: '2001:db8:1:3::1' }),
    );
    expect(b?.visitor_id).toBe(a?.visitor_id);
    expect(c?.visitor_id).not.toBe(a?.visitor_id);
  });

  test('an imported line: the visitor ID changes with the day of the line', async () => {
    const line = (timestamp: number) => ({ kind: 'import' as const, body: { url: 'https://example.com/', timestamp } });
    const day = Date.UTC(2015, 4, 17);
    const rows = await harness.enrich(line(day), line(day + 23 * HOUR_MS), line(day + 24 * HOUR_MS));
    expect(rows[0]).toMatchObject({
      source: 'import',
      type: 'pageview',
      timestamp: day,
      received_at: NOW,
      cookieless: true,
    });
    expect(rows[1]?.visitor_id).toBe(rows[0]?.visitor_id);
    expect(rows[2]?.visitor_id).not.toBe(rows[0]?.visitor_id);
    expect(rows[1]?.session_id).not.toBe(rows[0]?.session_id);
  });
});

describe('put-visitor: midnight does not split a visit', () => {
  const MIDNIGHT = Date.UTC(2026, 5, 16);
  const visitorsAt = async (ip: string, minutes: readonly number[], toRecord: (ip: string, at: number) => RawInput) => {
    const rows = await harness.enrich(...minutes.map((minute) => toRecord(ip, MIDNIGHT + minute * 60_000)));
    return rows.map((row) => `${row.visitor_id} ${row.session_id}`);
  };
  const hit = (ip: string, receivedAt: number): RawInput => ({
    ip,
    receivedAt,
    body: pageview({ visitor_id: '', session_id: '' }),
  });
  const line = (ip: string, timestamp: number): RawInput => ({
    kind: 'import',
    ip,
    receivedAt: NOW + 30 * 24 * HOUR_MS,
    body: { url: 'https://example.com/', timestamp },
  });

  test.each([
    ['hits', hit],
    ['imported lines', line],
  ])('%s at 23:50 and 00:10 are one visit, which goes on under its ID until it has been idle', async (_, toRecord) => {
    const visits = await visitorsAt('81.2.69.150', [-10, 10, 40, 65, 96, 100], toRecord);
    expect(new Set(visits.slice(0, 4)).size).toBe(1);
    expect(new Set(visits.slice(4)).size).toBe(1);
    expect(visits[4]?.split(' ')[0]).not.toBe(visits[0]?.split(' ')[0]);
  });

  test.each([
    ['hits', hit],
    ['imported lines', line],
  ])('%s after more than 30 idle minutes are of another visitor', async (_, toRecord) => {
    const [before, after] = await visitorsAt('81.2.69.151', [-20, 11], toRecord);
    expect(after?.split(' ')[0]).not.toBe(before?.split(' ')[0]);
  });

  test('a visit without a pause gets a new ID at 04:00', async () => {
    const minutes = Array.from({ length: 12 }, (_, i) => i * 30 - 60);
    const visits = await visitorsAt('81.2.69.152', minutes, hit);
    const [first] = visits;
    const last = minutes.findLastIndex((minute) => minute < 4 * 60);
    expect(visits.slice(0, last + 1).every((visit) => visit === first)).toBe(true);
    expect(visits[last + 1]?.split(' ')[0]).not.toBe(first?.split(' ')[0]);
  });

  test('no salt is created for the day before', async () => {
    await harness.enrich(hit('81.2.69.153', Date.UTC(2027, 0, 10, 12)));
    expect(harness.registry.existingSalt('2027-01-10')).toMatch(/^[0-9a-f]{64}$/);
    expect(harness.registry.existingSalt('2027-01-09')).toBeUndefined();
  });
});

describe('put-session: a new session begins after 30 minutes without a hit of the visitor', () => {
  const at = (visitor: string, minutes: number, session = '') => ({
    receivedAt: NOW + minutes * 60_000,
    body: pageview({ visitor_id: visitor, session_id: session }),
  });

  test('more than 30 idle minutes begin a new session', async () => {
    const ids = (await harness.enrich(at('w1', 0), at('w1', 30), at('w1', 60), at('w1', 91))).map((l) => l.session_id);
    expect(ids[0]).toMatch(/^s_[0-9a-f]{32}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
    expect(ids[3]).not.toBe(ids[0]);
    const [next] = await harness.enrich(at('w1', 100));
    expect(next?.session_id).toBe(ids[3]);
  });

  test('the ID depends only on site, visitor and start, and a late hit gets the session of its own time', async () => {
    const [a, b, late] = await harness.enrich(at('w2', 0), at('w2', 200), at('w2', 10));
    expect(a?.session_id).not.toBe(b?.session_id);
    expect(late?.session_id).toBe(a?.session_id);
    const [again] = await harness.enrich(at('w3', 0));
    expect(again?.session_id).not.toBe(a?.session_id);
  });

  test('a server event joins the current session, but never starts or prolongs one', async () => {
    const event = (visitor: string, minutes: number, session = '') =>
      ({
        kind: 'event',
        receivedAt: NOW + minutes * 60_000,
        body: { name: 'e', visitor_id: visitor, session_id: session },
      }) as const;
    const lines = await harness.enrich(
      event('w4', 0),
      at('w4', 1, 'mine'),
      event('w4', 20),
      event('w4', 32),
      event('w4', 33, 'given'),
      at('w4', 40),
    );
    expect(lines.slice(0, 5).map((line) => line.session_id)).toEqual(['', 'mine', 'mine', '', 'given']);
    expect(lines[5]?.session_id).toMatch(/^s_/);
  });

  test('a server event with only a user gets no session: the hits of its visitor can be in another partition', async () => {
    await harness.enrich({ kind: 'identify', body: { visitor_id: 'w5', user_id: 'u5' } }, at('w5', 0));
    const [line] = await harness.enrich({ kind: 'event', body: { name: 'e', user_id: 'u5' } });
    expect(line).toMatchObject({ visitor_id: 'w5', session_id: '' });
  });
});
