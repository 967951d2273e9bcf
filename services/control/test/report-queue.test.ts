import { createReportQueue, type Question, SHARED_MS } from '@weir/control/reports/report-queue';
import { deferred } from '@weir/testkit/eventually';

function question(text: string, siteId = 'site', signal = new AbortController().signal): Question {
  return { text, siteId, signal };
}

describe('reports are answered a few at a time', () => {
  test('the same question within a second is worked on once', async () => {
    let now = 0;
    let works = 0;
    const queue = createReportQueue<number>(() => now);
    const work = async () => ++works;
    const [first, second] = await Promise.all([queue.ask(question('a'), work), queue.ask(question('a'), work)]);
    expect([first.answer, first.isShared, second.answer, second.isShared]).toEqual([1, false, 1, true]);
    now = SHARED_MS - 1;
    expect((await queue.ask(question('a'), work)).answer).toBe(1);
    now = SHARED_MS;
    expect((await queue.ask(question('a'), work)).answer).toBe(2);
    expect((await queue.ask(question('b'), work)).answer).toBe(3);
  });

  test('a failure is not shared with later questions', async () => {
    const queue = createReportQueue<string>(() => 0);
    await expect(
      queue.ask(question('a'), async () => {
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect((await queue.ask(question('a'), async () => 'well')).answer).toBe('well');
  });

  test('work is aborted when its last caller has left, and only then', async () => {
    const queue = createReportQueue<string>(() => 0);
    const work = deferred<string>();
    let signal: AbortSignal | undefined;
    const callers = [new AbortController(), new AbortController()];
    const asked = callers.map((caller) =>
      queue.ask(question('a', 'site', caller.signal), (context) => {
        signal = context.signal;
        return work.promise;
      }),
    );
    const left = asked.map((one) => expect(one).rejects.toMatchObject({ name: 'AbortError' }));
    callers[0]?.abort();
    await left[0];
    expect(signal?.aborted).toBe(false);
    callers[1]?.abort();
    await left[1];
    expect(signal?.aborted).toBe(true);
    // An aborted answer is not given to the next caller.
    expect((await queue.ask(question('a'), async () => 'new')).answer).toBe('new');
    work.resolve('late');
  });

  test('the given number of reports run at once', async () => {
    const queue = createReportQueue<string>(() => 0, 2);
    const works = Array.from({ length: 3 }, () => deferred<string>());
    const begun: number[] = [];
    const asked = works.map(({ promise }, n) =>
      queue.ask(question(String(n)), () => {
        begun.push(n);
        return promise;
      }),
    );
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1]);
    works[1]?.resolve('');
    await asked[1];
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1, 2]);
    for (const { resolve } of works) resolve('');
    await Promise.all(asked);
  });

  test('sites take turns', async () => {
    const queue = createReportQueue<void>(() => 0);
    const order: string[] = [];
    const blocks = Array.from({ length: 4 }, () => deferred<string>());
    const blocked = blocks.map(({ promise }, n) =>
      queue.ask(question(`block ${n}`, 'busy'), async () => {
        await promise;
      }),
    );
    const later = [...Array.from({ length: 5 }, (_, n) => `busy ${n}`), 'quiet 0'].map((text) =>
      queue.ask(question(text, text.split(' ')[0]), async () => {
        order.push(text);
      }),
    );
    for (const { resolve } of blocks) resolve('');
    await Promise.all([...blocked, ...later]);
    expect(order.indexOf('quiet 0')).toBeLessThan(order.indexOf('busy 2'));
    expect(order).toHaveLength(6);
  });

  const refused = { code: 'analytics_unavailable' };

  test('too many waiting questions of a site are refused, and other sites are answered', async () => {
    const queue = createReportQueue<string>(() => 0);
    const block = deferred<string>();
    const ask = (n: number, site: string) => queue.ask(question(`${site} ${n}`, site), () => block.promise);
    const asked = Array.from({ length: 4 + 192 }, (_, n) => ask(n, 'busy'));
    await expect(ask(196, 'busy')).rejects.toMatchObject(refused);
    asked.push(...Array.from({ length: 64 }, (_, n) => ask(n, 'quiet')));
    await expect(ask(64, 'quiet')).rejects.toMatchObject(refused);
    block.resolve('');
    await Promise.all(asked);
  });

  test('a waiting question makes room when its callers leave', async () => {
    const queue = createReportQueue<string>(() => 0);
    const block = deferred<string>();
    const leaving = Array.from({ length: 192 }, () => new AbortController());
    const running = Array.from({ length: 4 }, (_, n) => queue.ask(question(`running ${n}`), () => block.promise));
    const waiting = leaving.map(({ signal }, n) =>
      queue.ask(question(`waiting ${n}`, 'site', signal), () => block.promise),
    );
    const left = Promise.allSettled(waiting);
    await expect(queue.ask(question('refused'), async () => '')).rejects.toMatchObject(refused);
    for (const caller of leaving) caller.abort();
    expect(new Set((await left).map(({ status }) => status))).toEqual(new Set(['rejected']));
    const later = queue.ask(question('later'), async () => 'later');
    block.resolve('');
    expect((await later).answer).toBe('later');
    await Promise.all(running);
  });
});
