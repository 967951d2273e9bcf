import { randomUUID } from 'node:crypto';
import { isDependencyError } from '@weir/domain/errors';
import { TABLE_REGISTRY, TABLE_SALTS } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { RegistryIndex } from './registry-index.ts';
import { rowKey, rowPrefix } from './registry-rows.ts';

export interface LogRegistryConfig {
  readonly eventLog: Pick<EventLog, 'openTable'>;
  readonly clock: () => number;
  /** 32 random bytes in hex. */
  readonly randomSalt: () => string;
  /**
   * Called with an error `event_log_damaged` when an unreadable row arrives after the registry was opened. The registry ignores the row. Without
   * this callback, the listener of the table throws the error. If the table has an unreadable row when the registry is opened, `openLogRegistry`
   * rejects.
   */
  readonly onDamage?: (error: unknown) => void;
  /** Called once with the number of rows of unknown kinds, as soon as there are such rows. A newer version of Weir has written them. */
  readonly onUnknown?: (rows: number) => void;
}

export async function openLogRegistry(config: LogRegistryConfig): Promise<Registry> {
  const { eventLog, clock, randomSalt, onDamage } = config;
  const [table, saltTable] = await Promise.all([eventLog.openTable(TABLE_REGISTRY), eventLog.openTable(TABLE_SALTS)]);
  const index = new RegistryIndex();
  const listeners: ((siteId: string) => void)[] = [];
  const pauseListeners = new Set<() => void>();
  const replayListeners = new Set<() => void>();
  const saltsInCreation = new Map<string, Promise<string>>();
  let reportedUnknown = false;
  /** The errors of unreadable rows, by the keys of the rows. A later readable row with the same key removes the error. */
  const damaged = new Map<string, unknown>();

  const reportUnknown = (): void => {
    if (reportedUnknown || index.unknown.size === 0) return;
    reportedUnknown = true;
    config.onUnknown?.(index.unknown.size);
  };
  const change = (key: string, value: string | undefined): void => {
    let siteId: string | undefined;
    try {
      siteId = index.apply(key, value);
      damaged.delete(key);
    } catch (error) {
      if (onDamage === undefined || !isDependencyError(error, 'event_log_damaged')) throw error;
      damaged.set(key, error);
      onDamage(error);
      return;
    }
    reportUnknown();
    if (key === rowKey.writersPause()) for (const listener of pauseListeners) listener();
    if (key.startsWith(rowPrefix.replay)) for (const listener of replayListeners) listener();
    if (siteId === undefined) return;
    for (const listener of listeners) listener(siteId);
  };
  for (const one of [table, saltTable]) {
    for (const [key, value] of one.entries()) index.apply(key, value);
    one.onChange(change);
  }
  reportUnknown();

  const put = (key: string, value: unknown): Promise<void> => table.put(key, JSON.stringify(value));

  /** Removes the row of an API key or of a viewer, and then the row with the last use of this token, if there is one. */
  async function removeToken(key: string, siteId: string, id: string): Promise<void> {
    await table.put(key, undefined);
    if (index.tokenUses.has(id)) await table.put(rowKey.use(siteId, id), undefined);
  }
  const removeKey = (siteId: string, keyId: string) => removeToken(rowKey.key(siteId, keyId), siteId, keyId);
  const removeViewer = (siteId: string, viewerId: string) =>
    removeToken(rowKey.viewer(siteId, viewerId), siteId, viewerId);

  /**
   * Creates the salt of a day (docs/glossary.md). All processes must use the same salt: the first one in the table. Each process puts its salt under
   * its own key: with a shared key, compaction would remove the first salt and keep the last one. When `put` has resolved, this process has applied
   * all earlier rows, so it knows the first salt.
   */
  async function createSalt(day: string): Promise<string> {
    const own = rowKey.salt(day, randomUUID());
    await saltTable.put(own, JSON.stringify({ salt: randomSalt(), madeAt: clock() }));
    const salts = index.salts.get(day);
    const [winner] = salts?.entries() ?? [];
    if (winner === undefined) return createSalt(day);
    if (winner[0] !== own) await saltTable.put(own, undefined);
    return winner[1];
  }

  return {
    site: (siteId) => index.sites.get(siteId),
    sites: () => [...index.sites.values()],
    keyByHash: (hash) => index.keysByHash.get(hash),
    keys: (siteId) => index.keys.of(siteId),
    exclusions: (siteId) => index.exclusionsOf(siteId),
    goals: (siteId) => index.goals.of(siteId),
    segments: (siteId) => index.segments.of(siteId),
    funnels: (siteId) => index.funnels.of(siteId),
    annotations: (siteId) => index.annotations.of(siteId),
    viewer: (viewerId) => index.viewersById.get(viewerId),
    viewerByHash: (hash) => index.viewersByHash.get(hash),
    viewers: (siteId) => index.viewers.of(siteId),
    tokenUse: (id) => index.tokenUses.get(id),
    sessionSecret: () => index.sessionSecret,
    signedOut: () => index.signedOut,
    import: (siteId, fileDigest) => index.importsOf(siteId).get(fileDigest),
    imports: (siteId) => [...index.importsOf(siteId).values()],

    tombstones: (siteId) => index.tombstonesOf(siteId),
    hasTombstones: () => index.hasTombstones(),
    allTombstones: () => index.allTombstones(),
    erasure: (erasureId) => index.erasures.get(erasureId),
    erasures: () => [...index.erasures.values()].sort((a, b) => a.at - b.at),

    putSite: (site) => put(rowKey.site(site.siteId), site),
    async removeSite(siteId) {
      // The site is removed last: after an interruption, a second call finds the remaining rows.
      await Promise.all([
        ...index.keys.of(siteId).map(({ keyId }) => removeKey(siteId, keyId)),
        ...index.exclusionsOf(siteId).map(({ ruleId }) => table.put(rowKey.exclusion(siteId, ruleId), undefined)),
        ...index.goals.of(siteId).map(({ goalId }) => table.put(rowKey.goal(siteId, goalId), undefined)),
        ...index.segments.of(siteId).map(({ segmentId }) => table.put(rowKey.segment(siteId, segmentId), undefined)),
        ...index.funnels.of(siteId).map(({ funnelId }) => table.put(rowKey.funnel(siteId, funnelId), undefined)),
        ...index.annotations
          .of(siteId)
          .map(({ annotationId }) => table.put(rowKey.annotation(siteId, annotationId), undefined)),
        ...index.viewers.of(siteId).map(({ viewerId }) => removeViewer(siteId, viewerId)),
        ...[...index.importsOf(siteId).keys()].map((digest) => table.put(rowKey.import(siteId, digest), undefined)),
      ]);
      await table.put(rowKey.site(siteId), undefined);
    },
    putKey: (key) => put(rowKey.key(key.siteId, key.keyId), key),
    removeKey,
    putExclusion: (rule) => put(rowKey.exclusion(rule.siteId, rule.ruleId), rule),
    removeExclusion: (siteId, ruleId) => table.put(rowKey.exclusion(siteId, ruleId), undefined),
    putGoal: (goal) => put(rowKey.goal(goal.siteId, goal.goalId), goal),
    removeGoal: (siteId, goalId) => table.put(rowKey.goal(siteId, goalId), undefined),
    putSegment: (segment) => put(rowKey.segment(segment.siteId, segment.segmentId), segment),
    removeSegment: (siteId, segmentId) => table.put(rowKey.segment(siteId, segmentId), undefined),
    putFunnel: (funnel) => put(rowKey.funnel(funnel.siteId, funnel.funnelId), funnel),
    removeFunnel: (siteId, funnelId) => table.put(rowKey.funnel(siteId, funnelId), undefined),
    putAnnotation: (annotation) => put(rowKey.annotation(annotation.siteId, annotation.annotationId), annotation),
    removeAnnotation: (siteId, annotationId) => table.put(rowKey.annotation(siteId, annotationId), undefined),
    putViewer: (viewer) => put(rowKey.viewer(viewer.siteId, viewer.viewerId), viewer),
    removeViewer,
    putTokenUse: (use) => put(rowKey.use(use.siteId, use.id), use),
    putSessionSecret: (secret) => put(rowKey.sessionSecret(), secret),
    putSignedOut: (session) => put(rowKey.signedOut(session.sessionId), session),
    removeSignedOut: (sessionId) => table.put(rowKey.signedOut(sessionId), undefined),
    putImport: (entry) => put(rowKey.import(entry.siteId, entry.fileDigest), entry),

    putTombstone: (tombstone) => put(rowKey.tombstone(tombstone), tombstone),
    putErasure: (erasure) => put(rowKey.erasure(erasure.erasureId), erasure),
    removeErasure: (erasureId) => table.put(rowKey.erasure(erasureId), undefined),
    expiry: () => index.expiry,
    putExpiry: (expiry) => put(rowKey.expiry(), expiry),
    removeExpiry: () => table.put(rowKey.expiry(), undefined),
    replay: () => index.replay(),
    putReplayRequest: (request) => put(rowKey.replay(request.replayId, 'request'), request),
    putReplayState: (state) => put(rowKey.replay(state.replayId, 'state'), state),
    putReplayWish: (wish) => put(rowKey.replay(wish.replayId, 'wish'), wish),
    async removeReplay(replayId) {
      // The state is removed last: a request without a state is a new replay. After an interruption, a state without a request is ignored.
      for (const part of ['wish', 'request', 'state'] as const)
        await table.put(rowKey.replay(replayId, part), undefined);
    },

    async salt(day) {
      const known = index.saltOf(day);
      if (known !== undefined) return known;
      let making = saltsInCreation.get(day);
      if (making === undefined) {
        making = createSalt(day).finally(() => saltsInCreation.delete(day));
        saltsInCreation.set(day, making);
      }
      return making;
    },
    existingSalt: (day) => index.saltOf(day),
    async removeSaltsBefore(day) {
      const old = [...index.salts].filter(([saltDay]) => saltDay < day).flatMap(([, salts]) => [...salts.keys()]);
      await Promise.all(old.map((key) => saltTable.put(key, undefined)));
    },

    writersPause: () => index.writersPause,
    putWritersPause: (pause) => put(rowKey.writersPause(), pause),
    onWritersPause(listener) {
      pauseListeners.add(listener);
      return () => pauseListeners.delete(listener);
    },

    onReplayChange(listener) {
      replayListeners.add(listener);
      return () => void replayListeners.delete(listener);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    readToEnd: () => table.catchUp(),
    async catchUp() {
      await table.catchUp();
      const [[, error] = []] = damaged;
      if (error !== undefined) throw error;
    },
    unreadMs: () => Math.max(table.unreadMs(), saltTable.unreadMs()),
    async close() {
      await Promise.all([table.close(), saltTable.close()]);
    },
  };
}
