import { DependencyError } from '@weir/domain/errors';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { watchGuardRails } from '../src/watch/guard-rails.ts';

function createRail(answer: () => Promise<readonly string[]>, ready?: Promise<void>) {
  let asked = 0;
  const drift = (): Promise<readonly string[]> => {
    asked += 1;
    return answer();
  };
  return { engine: 'clickhouse', drift, asked: () => asked, ...(ready === undefined ? {} : { ready }) };
}

const deps = () => ({ intervalMs: 1, clock: () => 7, logger: createLogger('silent'), metrics: createMetrics() });

describe('the settings of the engines are checked at intervals', () => {
  test('one check per engine at a time, from the time when the engine is available; an engine that never starts is skipped', async () => {
    let come = (): void => undefined;
    const quick = createRail(async () => []);
    const hanging = createRail(() => new Promise(() => undefined));
    const late = createRail(
      async () => [],
      new Promise((resolve) => {
        come = resolve;
      }),
    );
    const never = createRail(async () => [], Promise.reject(new Error('it does not start')));
    const away = createRail(() => Promise.reject(new DependencyError('analytics_unavailable', 'away')));
    const watch = watchGuardRails([quick, hanging, late, never, away], deps());
    await eventually('many rounds', () => quick.asked() > 5 && away.asked() > 5);
    expect([hanging.asked(), late.asked(), never.asked()]).toEqual([1, 0, 0]);
    come();
    await eventually('the late one', () => late.asked() > 1);
    expect(watch.status()[0]).toEqual({ engine: 'clickhouse', checkedAt: 7, drift: [] });
    watch.close();
  });

  test('the last check is shown, also while the engine is away', async () => {
    let answer: () => Promise<readonly string[]> = async () => ['records: the window is 0'];
    const rail = createRail(() => answer());
    const watch = watchGuardRails([rail], deps());
    expect(watch.status()).toEqual([{ engine: 'clickhouse', checkedAt: undefined, drift: [] }]);
    await eventually('the check', () => watch.status()[0]?.drift.length === 1);
    answer = () => Promise.reject(new DependencyError('analytics_unavailable', 'away'));
    const asked = rail.asked();
    await eventually('a check that fails', () => rail.asked() > asked + 1);
    expect(watch.status()).toEqual([{ engine: 'clickhouse', checkedAt: 7, drift: ['records: the window is 0'] }]);
    watch.close();
  });
});
