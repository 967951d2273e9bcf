import type { Goal } from '@weir/domain/registry/goal';
import type { Annotation, Funnel, Segment } from '@weir/domain/registry/saved';
import type { ApiKey, ExclusionRule, Site } from '@weir/domain/registry/site';
import type { Viewer } from '@weir/domain/registry/viewer';
import type { ImportLedgerEntry, Registry } from '@weir/ports/registry';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';

export interface RegistryFixture {
  readonly registry: Registry;
  /** Opens another registry of the same log, as another process would. The fixture closes it. */
  another(): Promise<Registry>;
  /** Closes the log and its registries, and opens the log and one registry again. */
  reopen(): Promise<Registry>;
  close(): Promise<void>;
}

/** The tests that every implementation of the registry passes. They use only what the port promises. */
export function registryContract(name: string, openFixture: () => Promise<RegistryFixture>): void {
  describe(`${name} fulfils the registry's contract`, () => {
    let siteId: string;
    let sites = 0;

    const fixture = useOpened(openFixture);
    beforeEach(() => {
      siteId = `site-${sites++}`;
    });

    const site = (change: Partial<Site> = {}): Site => ({
      siteId,
      name: 'A site',
      domain: 'example.com',
      timezone: 'Europe/Berlin',
      limits: { collect: 5 },
      createdAt: 1,
      ...change,
    });
    const key = (keyId: string, digit: string): ApiKey => ({
      keyId,
      siteId,
      name: keyId,
      hash: `${digit.repeat(60)}${String(sites).padStart(4, '0')}`,
      scopes: ['events:write', 'identify:write'],
      legacyIdentify: false,
      createdAt: 2,
    });
    const rule = (ruleId: string, value = '/x*'): ExclusionRule => ({
      ruleId,
      siteId,
      type: 'path',
      value,
      createdAt: 3,
    });
    const goal = (goalId: string, value = 'signup'): Goal => ({
      ...{ goalId, siteId, name: 'Signed up', type: 'event', value, createdAt: 3 },
    });
    const savedOf = (id: string): readonly [Segment, Funnel, Annotation] => [
      { segmentId: id, siteId, name: 'DE', filters: ['country:is:DE'], createdAt: 3 },
      { funnelId: id, siteId, name: 'Sale', steps: ['page:/', 'event:paid'], within: '7d', createdAt: 3 },
      { annotationId: id, siteId, at: 1, text: 'Released', createdAt: 3 },
    ];
    const viewer = (viewerId: string, digit: string): Viewer => ({
      ...{ viewerId: `${viewerId}-${siteId}`, siteId, name: viewerId, prefix: 'wv_abcde', createdAt: 4 },
      hash: `${digit.repeat(60)}${String(sites).padStart(4, '0')}`,
    });
    const ledger = (fileDigest: string, linesDone = 0): ImportLedgerEntry => ({
      siteId,
      fileDigest,
      startedAt: 4,
      linesDone,
      linesPending: linesDone,
      hitsAppended: linesDone,
      finished: false,
    });

    test('sites can be created, changed and listed', async () => {
      await fixture.registry.putSite(site());
      expect(fixture.registry.site(siteId)).toEqual(site());
      await fixture.registry.putSite(site({ name: 'Another name' }));
      expect(fixture.registry.sites().filter((other) => other.siteId === siteId)).toEqual([
        site({ name: 'Another name' }),
      ]);
      expect(fixture.registry.site('no such site')).toBeUndefined();
    });

    test('keys are found by hash and by site until they are removed', async () => {
      await fixture.registry.putSite(site());
      await fixture.registry.putKey(key('k1', 'a'));
      await fixture.registry.putKey(key('k2', 'b'));
      expect(fixture.registry.keyByHash(key('k1', 'a').hash)).toEqual(key('k1', 'a'));
      expect(fixture.registry.keys(siteId)).toEqual([key('k1', 'a'), key('k2', 'b')]);
      await fixture.registry.removeKey(siteId, 'k1');
      expect(fixture.registry.keyByHash(key('k1', 'a').hash)).toBeUndefined();
      expect(fixture.registry.keys(siteId)).toEqual([key('k2', 'b')]);
      expect(fixture.registry.keys('no such site')).toEqual([]);
    });

    test('exclusion rules and imports can be created, replaced and removed', async () => {
      await fixture.registry.putExclusion(rule('r1'));
      await fixture.registry.putExclusion(rule('r2'));
      await fixture.registry.putExclusion(rule('r1', '/y'));
      expect(
        fixture.registry
          .exclusions(siteId)
          .map(({ value }) => value)
          .toSorted(),
      ).toEqual(['/x*', '/y']);
      await fixture.registry.removeExclusion(siteId, 'r1');
      expect(fixture.registry.exclusions(siteId)).toEqual([rule('r2')]);
      await fixture.registry.putImport(ledger('d1'));
      await fixture.registry.putImport(ledger('d1', 500));
      expect(fixture.registry.import(siteId, 'd1')).toEqual(ledger('d1', 500));
      expect(fixture.registry.import(siteId, 'd2')).toBeUndefined();
      expect(fixture.registry.imports(siteId)).toEqual([ledger('d1', 500)]);
    });

    test('goals, segments, funnels and annotations can be created, listed in the order of their creation, and removed', async () => {
      const { registry } = fixture;
      await registry.putGoal(goal('g2'));
      await registry.putGoal(goal('g1', 'paid'));
      expect(registry.goals(siteId)).toEqual([goal('g2'), goal('g1', 'paid')]);
      await registry.removeGoal(siteId, 'g2');
      expect([registry.goals(siteId), registry.goals('no such site')]).toEqual([[goal('g1', 'paid')], []]);
      const [segment, funnel, annotation] = savedOf('s1');
      await Promise.all([registry.putSegment(segment), registry.putFunnel(funnel), registry.putAnnotation(annotation)]);
      const saved = () => [registry.segments(siteId), registry.funnels(siteId), registry.annotations(siteId)];
      expect(saved()).toEqual([[segment], [funnel], [annotation]]);
      await registry.removeSegment(siteId, 's1');
      await registry.removeFunnel(siteId, 's1');
      await registry.removeAnnotation(siteId, 's1');
      expect(saved()).toEqual([[], [], []]);
    });

    test('viewers are found by site, ID and hash, and removed with their last use', async () => {
      const { registry } = fixture;
      const [first, second] = [viewer('v1', 'a'), viewer('v2', 'b')];
      await registry.putViewer(first);
      await registry.putViewer(second);
      await registry.putTokenUse({ siteId, id: first.viewerId, at: 7 });
      expect(registry.viewers(siteId)).toEqual([first, second]);
      expect([registry.viewer(first.viewerId), registry.viewerByHash(second.hash)]).toEqual([first, second]);
      expect(registry.tokenUse(first.viewerId)?.at).toBe(7);
      await registry.removeViewer(siteId, first.viewerId);
      expect([registry.viewer(first.viewerId), registry.viewerByHash(first.hash)]).toEqual([undefined, undefined]);
      expect([registry.viewers(siteId), registry.tokenUse(first.viewerId)]).toEqual([[second], undefined]);
    });

    test('another process sees the session secret and the sessions that were signed out', async () => {
      const { registry } = fixture;
      const other = await fixture.another();
      const secret = { secret: 'ab'.repeat(32), createdAt: 5 };
      await registry.putSessionSecret(secret);
      await registry.putSignedOut({ sessionId: siteId, expiresAt: 9 });
      expect(registry.sessionSecret()).toEqual(secret);
      await eventually('the session is signed out', () => other.signedOut().has(siteId));
      expect(other.sessionSecret()).toEqual(secret);
      await registry.removeSignedOut(siteId);
      expect(registry.signedOut().has(siteId)).toBe(false);
    });

    test('removing a site removes its keys, rules, goals, viewers, imports and what was saved for reports, and nothing of other sites', async () => {
      const { registry } = fixture;
      const neighbour = `${siteId}-neighbour`;
      await fixture.registry.putSite(site());
      await Promise.all([
        ...[registry.putKey(key('k', 'c')), registry.putExclusion(rule('r')), registry.putGoal(goal('g'))],
        ...[registry.putViewer(viewer('v', 'c')), registry.putImport(ledger('d'))],
      ]);
      const [segment, funnel, annotation] = savedOf('s');
      await Promise.all([registry.putSegment(segment), registry.putFunnel(funnel), registry.putAnnotation(annotation)]);
      await fixture.registry.putExclusion({ ...rule('r'), siteId: neighbour });
      await fixture.registry.removeSite(siteId);
      expect(registry.site(siteId) ?? registry.keyByHash(key('k', 'c').hash)).toBeUndefined();
      expect([...registry.keys(siteId), ...registry.exclusions(siteId), ...registry.imports(siteId)]).toEqual([]);
      expect([...registry.goals(siteId), ...registry.viewers(siteId)]).toEqual([]);
      expect([registry.segments(siteId), registry.funnels(siteId), registry.annotations(siteId)]).toEqual([[], [], []]);
      expect(registry.exclusions(neighbour)).toHaveLength(1);
    });

    test('another process sees every change, and its listeners are called with the site', async () => {
      const other = await fixture.another();
      const told: string[] = [];
      other.onChange((changed) => told.push(changed));
      await fixture.registry.putSite(site());
      await fixture.registry.putKey(key('k', 'd'));
      await eventually('the key is there', () => other.keyByHash(key('k', 'd').hash) !== undefined);
      expect(other.site(siteId)).toEqual(site());
      expect(told).toEqual([siteId, siteId]);
      await fixture.registry.removeKey(siteId, 'k');
      await eventually('the key is gone', () => other.keyByHash(key('k', 'd').hash) === undefined);
    });

    test('every process sees the last request to pause the writers, also after reopening', async () => {
      const other = await fixture.another();
      let calls = 0;
      const stop = other.onWritersPause(() => calls++);
      const request = { swap: 3, owner: 'backup', over: false, requestedAt: 1_700_000_000_000 } as const;
      await fixture.registry.putWritersPause(request);
      expect(fixture.registry.writersPause()).toEqual(request);
      await eventually('the request is there', () => other.writersPause()?.swap === 3);
      expect(calls).toBe(1);
      stop();
      await fixture.registry.putWritersPause({ ...request, over: true });
      await eventually('it is over', () => other.writersPause()?.over);
      expect(calls).toBe(1);
      expect((await fixture.reopen()).writersPause()).toEqual({ ...request, over: true });
    });

    test('all rows remain after reopening', async () => {
      await fixture.registry.putSite(site());
      await fixture.registry.putKey(key('k', 'e'));
      await fixture.registry.putExclusion(rule('r'));
      await fixture.registry.putImport(ledger('d', 7));
      const salt = await fixture.registry.salt('2030-01-05');
      const again = await fixture.reopen();
      expect(again.site(siteId)).toEqual(site());
      expect(again.keyByHash(key('k', 'e').hash)).toEqual(key('k', 'e'));
      expect(again.exclusions(siteId)).toEqual([rule('r')]);
      expect(again.import(siteId, 'd')).toEqual(ledger('d', 7));
      expect(await again.salt('2030-01-05')).toBe(salt);
    });

    test('tombstones and erasures outlast their site and a reopening', async () => {
      const { registry } = fixture;
      const hash = 'ab'.repeat(16);
      const tombstone = (part: number, entries: readonly string[]) => {
        return { siteId, erasureId: `e-${siteId}`, part, at: 5, salt: 'salt', whole: false, entries };
      };
      const erasure = {
        siteId,
        erasureId: `e-${siteId}`,
        at: 5,
        whole: false,
        visitors: 1,
        users: 0,
        phase: 'waiting',
      } as const;
      await registry.putSite(site());
      await registry.putTombstone(tombstone(0, [`v:${hash}`]));
      await registry.putTombstone(tombstone(1, [`d:${hash}:-5-7,9-`]));
      await registry.putErasure({ ...erasure, removed: {}, begun: {} });
      await registry.putErasure({ ...erasure, phase: 'done', removed: { records: 2 }, begun: {} });
      await registry.removeSite(siteId);
      expect(registry.hasTombstones()).toBe(true);
      expect(registry.tombstones(`${siteId}-other`)).toEqual([]);
      const again = await fixture.reopen();
      expect(again.tombstones(siteId)).toEqual([tombstone(0, [`v:${hash}`]), tombstone(1, [`d:${hash}:-5-7,9-`])]);
      expect(again.erasure(`e-${siteId}`)).toMatchObject({ phase: 'done', removed: { records: 2 } });
      expect(again.allTombstones().filter((one) => one.siteId === siteId)).toEqual(again.tombstones(siteId));
      expect(again.erasures().filter((one) => one.siteId === siteId)).toHaveLength(1);
      await again.removeErasure(`e-${siteId}`);
      expect([again.erasure(`e-${siteId}`), again.tombstones(siteId).length]).toEqual([undefined, 2]);
    });

    test('the expiry outlasts a reopening until it is removed', async () => {
      const { registry } = fixture;
      const scope = { siteIds: ['', siteId], before: { events: 5 }, ends: [3] };
      const expiry = { ...scope, expiryId: 'e', startedAt: 9, phase: 'waiting' } as const;
      expect(registry.expiry()).toBeUndefined();
      await registry.putExpiry(expiry);
      const again = await fixture.reopen();
      expect(again.expiry()).toEqual(expiry);
      await again.removeExpiry();
      expect(again.expiry()).toBeUndefined();
    });

    describe('salts', () => {
      test('each day has its own salt of 32 bytes', async () => {
        const salt = await fixture.registry.salt('2030-02-01');
        expect(salt).toMatch(/^[0-9a-f]{64}$/);
        expect(await fixture.registry.salt('2030-02-01')).toBe(salt);
        expect(await fixture.registry.salt('2030-02-02')).not.toBe(salt);
      });

      test('if several processes create a salt concurrently, the first one in the log wins permanently', async () => {
        const makers = [fixture.registry, await fixture.another(), await fixture.another()];
        for (let round = 1; round <= 9; round++) {
          const day = `2030-03-0${round}`;
          const salts = await Promise.all([...makers, ...makers].map((maker) => maker.salt(day)));
          expect(new Set(salts).size).toBe(1);
        }
        const last = await fixture.registry.salt('2030-03-09');
        const again = await fixture.reopen();
        expect(await again.salt('2030-03-09')).toBe(last);
      });

      test('removal deletes the salts before a day, not those of the day and later', async () => {
        const old = await fixture.registry.salt('2030-04-01');
        const kept = await fixture.registry.salt('2030-04-02');
        await fixture.registry.removeSaltsBefore('2030-04-02');
        const again = await fixture.reopen();
        expect(await again.salt('2030-04-02')).toBe(kept);
        expect(await again.salt('2030-04-01')).not.toBe(old);
      });
    });
  });
}
