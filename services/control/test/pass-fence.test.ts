import { passFence } from '@weir/control/background/election';
import { DependencyError } from '@weir/domain/errors';

let now = 0;
const answerAfter = (ms: number) => ({
  async commit() {
    now += ms;
  },
});

test('a fence is passed if the answer comes at once', async () => {
  await expect(passFence(answerAfter(1000), () => now)).resolves.toBeUndefined();
});

test('a fence is not passed if the process was paused: another one can be elected meanwhile', async () => {
  await expect(passFence(answerAfter(20_000), () => now)).rejects.toMatchObject({ code: 'event_log_unavailable' });
});

test('a process that lost the election does not pass the fence', async () => {
  const lost = { commit: () => Promise.reject(new DependencyError('partition_lost', 'of the test')) };
  await expect(passFence(lost, () => now)).rejects.toMatchObject({ code: 'partition_lost' });
});
