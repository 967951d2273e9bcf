import { randomFillSync } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { validate, version } from 'uuid';
import { createEventIds } from '../../src/ingest/event-id.ts';

describe('event IDs (UUIDv7)', () => {
  it('increase strictly: within one millisecond, when its counter overflows, and when the clock goes back', () => {
    let now = 1_764_000_000_123;
    const next = createEventIds(() => now, randomFillSync);
    const ids = Array.from({ length: 10_000 }, next);
    now -= 5000;
    ids.push(next());
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(Number.parseInt(`${ids[0]?.slice(0, 8)}${ids[0]?.slice(9, 13)}`, 16)).toBe(1_764_000_000_123);
  });

  it('of different processes differ, also at the same moment', () => {
    const ids = Array.from({ length: 1000 }, () => createEventIds(() => 1_764_000_000_123, randomFillSync)());
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('of one process compress to a few bytes each, also in the order of visitors instead of times', () => {
    let now = 0;
    const next = createEventIds(() => now, randomFillSync);
    const ids = Array.from({ length: 10_000 }, () => {
      now += 360;
      return [Math.sin(now), next()] as const;
    });
    const column = ids.toSorted(([a], [b]) => a - b).map(([, id]) => id);
    expect(deflateRawSync(column.join('')).length / column.length).toBeLessThan(8);
  });
});
