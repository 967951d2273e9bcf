import { type Asking, createJoinedWork, createSharedWork } from '@weir/control/answers/joined-work';
import { deferred } from '@weir/testkit/eventually';

const SHARED_MS = 1_000;

const asking = (signal = new AbortController().signal): Asking => ({ signal, sharedMs: SHARED_MS });

describe('work that several callers share', () => {
  let now = 0;
  let works = 0;
  const work = async () => String(++works);
  beforeEach(() => {
    now = 0;
    works = 0;
  });

  test('an answer is shared until it is too old, counted from the start of its work', async () => {
    const shared = createSharedWork<string>(() => now);
    const slow = async () => {
      now += SHARED_MS / 2;
      return work();
    };
    expect(await shared.ask('a', asking(), slow)).toEqual({ answer: '1', isShared: false });
    now = SHARED_MS - 1;
    expect(await shared.ask('a', asking(), work)).toEqual({ answer: '1', isShared: true });
    expect(await shared.ask('b', asking(), work)).toEqual({ answer: '2', isShared: false });
    now = SHARED_MS;
    expect(await shared.ask('a', asking(), work)).toEqual({ answer: '3', isShared: false });
  });

  test('the time for which an answer is shared can depend on the answer; while its work is running, it is always shared', async () => {
    const shared = createSharedWork<string>(() => now);
    const byAnswer = { ...asking(), sharedMs: (answer: string) => (answer === 'kept' ? 10 * SHARED_MS : 0) };
    for (const [answer, isShared] of [
      ['kept', true],
      ['short', false],
    ] as const) {
      const running = deferred<string>();
      const callers = [shared.ask(answer, byAnswer, () => running.promise), shared.ask(answer, byAnswer, work)];
      now += 20 * SHARED_MS;
      callers.push(shared.ask(answer, byAnswer, work));
      now -= 15 * SHARED_MS;
      running.resolve(answer);
      expect((await Promise.all(callers)).map(({ isShared }) => isShared)).toEqual([false, true, true]);
      expect((await shared.ask(answer, byAnswer, work)).isShared).toBe(isShared);
      now += 5 * SHARED_MS;
      expect((await shared.ask(answer, byAnswer, work)).isShared).toBe(false);
    }
  });

  test('an answer is not shared after the clock was set back', async () => {
    const shared = createSharedWork<string>(() => now);
    now = 10 * SHARED_MS;
    expect((await shared.ask('a', asking(), work)).answer).toBe('1');
    now = 0;
    expect(await shared.ask('a', asking(), work)).toEqual({ answer: '2', isShared: false });
    expect(await shared.ask('a', asking(), work)).toEqual({ answer: '2', isShared: true });
  });

  test('work that is being done is shared, and aborted only when its last caller has left', async () => {
    const shared = createSharedWork<string>(() => now);
    let signal: AbortSignal | undefined;
    const callers = [new AbortController(), new AbortController()];
    const asked = callers.map((caller) =>
      shared.ask('a', asking(caller.signal), (given) => {
        works++;
        signal = given;
        return deferred<string>().promise;
      }),
    );
    const left = asked.map((one) => expect(one).rejects.toMatchObject({ name: 'AbortError' }));
    callers[0]?.abort();
    await left[0];
    expect([works, signal?.aborted]).toEqual([1, false]);
    callers[1]?.abort();
    await left[1];
    expect(signal?.aborted).toBe(true);
    expect((await shared.ask('a', asking(), work)).answer).toBe('2');
  });

  test('a failure is not shared with later callers', async () => {
    const shared = createSharedWork<string>(() => now);
    await expect(shared.ask('a', asking(), () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect((await shared.ask('a', asking(), work)).answer).toBe('1');
  });

  test('only a limited number of answers is kept: the oldest are removed', async () => {
    const shared = createSharedWork<string>(() => now);
    for (let i = 0; i < 150; i++) await shared.ask(`question ${i}`, asking(), work);
    expect((await shared.ask('question 149', asking(), work)).isShared).toBe(true);
    expect((await shared.ask('question 0', asking(), work)).isShared).toBe(false);
  });
});

describe('work that callers join before it begins', () => {
  test('callers that ask while it is done share its next run, and an ended run is never shared', async () => {
    const joined = createJoinedWork<string>(() => 0);
    const runs: ReturnType<typeof deferred<string>>[] = [];
    const ask = (question = 'a') =>
      joined.ask(question, asking().signal, () => {
        const run = deferred<string>();
        runs.push(run);
        return run.promise;
      });
    const first = ask();
    const [second, third] = [ask(), ask()];
    const other = ask('b');
    expect(runs).toHaveLength(2);
    runs[0]?.resolve('1');
    expect((await first).answer).toBe('1');
    expect(runs).toHaveLength(3);
    const fourth = ask();
    expect(runs).toHaveLength(3);
    runs[2]?.resolve('2');
    expect([(await second).answer, (await third).answer]).toEqual(['2', '2']);
    runs[3]?.resolve('3');
    expect((await fourth).answer).toBe('3');
    runs[1]?.resolve('of b');
    expect((await other).answer).toBe('of b');
    const fifth = ask();
    runs[4]?.resolve('4');
    expect((await fifth).answer).toBe('4');
  });

  test('callers share the next run, however long they wait for it', async () => {
    let now = 0;
    const joined = createJoinedWork<string>(() => now);
    const run = deferred<string>();
    const first = joined.ask('a', asking().signal, () => run.promise);
    let begun = 0;
    const ask = () => joined.ask('a', asking().signal, async () => String(++begun));
    const second = ask();
    now = 100 * SHARED_MS;
    const third = ask();
    run.resolve('1');
    await first;
    expect([(await second).answer, (await third).answer, begun]).toEqual(['1', '1', 1]);
  });

  test('a run that fails does not keep the next one from beginning', async () => {
    const joined = createJoinedWork<string>(() => 0);
    const first = joined.ask('a', asking().signal, () => Promise.reject(new Error('refused')));
    const second = joined.ask('a', asking().signal, async () => 'well');
    await expect(first).rejects.toThrow('refused');
    expect((await second).answer).toBe('well');
  });

  test('a run that no caller waits for does not begin', async () => {
    const joined = createJoinedWork<string>(() => 0);
    const run = deferred<string>();
    const first = joined.ask('a', asking().signal, () => run.promise);
    const caller = new AbortController();
    let begun = 0;
    const second = joined.ask('a', caller.signal, async () => String(++begun));
    caller.abort();
    await expect(second).rejects.toMatchObject({ name: 'AbortError' });
    run.resolve('1');
    expect((await first).answer).toBe('1');
    const third = joined.ask('a', asking().signal, async () => 'third');
    expect([(await third).answer, begun]).toEqual(['third', 0]);
  });
});
