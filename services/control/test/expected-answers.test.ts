import { createExpectedAnswers } from '@weir/control/answers/expected-answers';
import { newTiming } from '@weir/control/http/request-context';
import { createSteadyTables, type ReadableTables } from '@weir/control/steady-tables';
import type { Analytics } from '@weir/ports/analytics';
import { eventually } from '@weir/testkit/eventually';

describe('answers to expect', () => {
  test('an answer is expected after it came twice in a row, and no longer after a different answer', () => {
    const expected = createExpectedAnswers<string>((text) => text);
    const after = (answer: string) => {
      expected.learn('q', answer);
      return expected.of('q');
    };
    expect(['a', 'a', 'b', 'a', 'a'].map(after)).toEqual([undefined, 'a', undefined, undefined, 'a']);
    expect(expected.of('other')).toBeUndefined();
  });

  test('a new answer is compared with the one that the caller expected, not with the last one', () => {
    const expected = createExpectedAnswers<string>((text) => text);
    expect(expected.learn('q', 'b', 'a')).toBe(false);
    expect(expected.learn('q', 'b', 'a')).toBe(false);
    expect(expected.learn('q', 'b', 'b')).toBe(true);
    expect(expected.learn('q', 'b')).toBe(false);
  });

  test('an answer without a text is never expected, and removes the answer before it', () => {
    const expected = createExpectedAnswers<string>((text) => (text === 'large' ? undefined : text));
    const after = (answer: string) => {
      expected.learn('q', answer);
      return expected.of('q');
    };
    expect(['a', 'a', 'large', 'a', 'large'].map(after)).toEqual([undefined, 'a', undefined, undefined, undefined]);
    expect(expected.learn('q', 'large', 'large')).toBe(false);
    expect(expected.learn('q', 'large', 'a')).toBe(false);
  });

  test('only the hundred questions that were asked last are remembered', () => {
    const expected = createExpectedAnswers<string>((text) => text);
    const learn = (question: string) => {
      for (let times = 0; times < 2; times++) expected.learn(question, 'a');
    };
    for (let n = 0; n < 100; n++) learn(`q${n}`);
    learn('q0');
    learn('new');
    expect(expected.of('q0')).toBe('a');
    expect(expected.of('q1')).toBeUndefined();
    expect(expected.of('q2')).toBe('a');
  });
});

describe('reads with a steady query', () => {
  type Answer = Awaited<ReturnType<Analytics['userQuery']>>;
  function tablesOf(answer: (query: string, signal?: AbortSignal) => Promise<Answer>, generation = () => 0) {
    const userQuery: Analytics['userQuery'] = (query, _params, options) => answer(query, options?.signal);
    const analytics = { generation: async () => generation(), userQuery } as ReadableTables &
      Pick<Analytics, 'generation'>;
    const request = { signal: new AbortController().signal, timing: newTiming() };
    return { tables: createSteadyTables(analytics, Date.now), request };
  }

  /** Tables whose queries wait until the test answers them. The test can answer them in any order. */
  function openTables(generations: () => number = () => 0) {
    const open: { query: string; answer(value: number | Error): void; signal: AbortSignal | undefined }[] = [];
    const { tables, request } = tablesOf(
      (query, signal) =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          const answer = (value: number | Error) =>
            value instanceof Error ? reject(value) : resolve({ columns: [], rows: [{ value }] });
          open.push({ query, signal, answer });
        }),
      generations,
    );
    /** Runs a report. Resolves with the value of the facts, and the answer of the report's statement. */
    const read = () =>
      tables.read(async ({ steadyQuery, userQuery }) => {
        const facts = (await steadyQuery?.('facts', {}))?.rows[0]?.value;
        const { rows } = await userQuery(`report ${facts}`, {});
        return [facts, rows[0]?.value];
      }, request);
    const asked = async (query: string) => {
      await eventually(query, () => open.some((one) => one.query === query));
      const [found] = open.splice(
        open.findIndex((one) => one.query === query),
        1,
      );
      if (found === undefined) throw new Error(query);
      return found;
    };
    const readInTurn = async (facts: number) => {
      const reading = read();
      (await asked('facts')).answer(facts);
      (await asked(`report ${facts}`)).answer(facts * 10);
      expect(await reading).toEqual([facts, facts * 10]);
    };
    return { read, asked, readInTurn, open };
  }

  test('after two equal answers, the report does not wait for the third', async () => {
    const { read, asked, readInTurn, open } = openTables();
    await readInTurn(1);
    await readInTurn(1);
    const reading = read();
    (await asked('report 1')).answer(10);
    (await asked('facts')).answer(1);
    expect(await reading).toEqual([1, 10]);
    expect(open).toEqual([]);
  });

  test('new facts cancel the report, and it runs again with these facts without reading them again', async () => {
    const { read, asked, readInTurn, open } = openTables();
    await readInTurn(1);
    await readInTurn(1);
    const reading = read();
    const useless = await asked('report 1');
    (await asked('facts')).answer(2);
    (await asked('report 2')).answer(20);
    expect(await reading).toEqual([2, 20]);
    expect(useless.signal?.aborted).toBe(true);
    expect(open).toEqual([]);
    await readInTurn(2);
  });

  test('a report whose statement ended before the new answer also runs again', async () => {
    const { read, asked, readInTurn } = openTables();
    await readInTurn(1);
    await readInTurn(1);
    const reading = read();
    (await asked('report 1')).answer(10);
    (await asked('facts')).answer(2);
    (await asked('report 2')).answer(20);
    expect(await reading).toEqual([2, 20]);
  });

  test('a report fails if the check of its facts fails', async () => {
    const { read, asked, readInTurn } = openTables();
    await readInTurn(1);
    await readInTurn(1);
    const reading = read();
    reading.catch(() => undefined);
    (await asked('report 1')).answer(10);
    (await asked('facts')).answer(new Error('of the check'));
    await expect(reading).rejects.toThrow('of the check');
  });

  test('a report fails with the error of its statement if the expected answer was right', async () => {
    const { read, asked, readInTurn } = openTables();
    await readInTurn(1);
    await readInTurn(1);
    const reading = read();
    reading.catch(() => undefined);
    (await asked('report 1')).answer(new Error('of the report'));
    (await asked('facts')).answer(1);
    await expect(reading).rejects.toThrow('of the report');
  });

  test('an answer from one generation is not expected in the next generation', async () => {
    let generation = 0;
    const { readInTurn, read, asked } = openTables(() => generation);
    await readInTurn(1);
    await readInTurn(1);
    generation = 1;
    const reading = read();
    // `read` begins with the generation that it read last, so the first attempt still expects the answer of the former generation.
    (await asked('report 1')).answer(10);
    (await asked('facts')).answer(1);
    const facts = await asked('facts');
    facts.answer(2);
    (await asked('report 2')).answer(20);
    expect(await reading).toEqual([2, 20]);
  });

  test('each report that began with an old answer runs again, even if another report has already read the new one', async () => {
    const { read, asked, readInTurn, open } = openTables();
    await readInTurn(1);
    await readInTurn(1);
    // The second and the third report share the next run of the facts.
    const readings = [read(), read(), read()];
    for (const _ of readings) (await asked('report 1')).answer(10);
    (await asked('facts')).answer(2);
    (await asked('facts')).answer(2);
    for (const _ of readings) (await asked('report 2')).answer(20);
    expect(await Promise.all(readings)).toEqual([
      [2, 20],
      [2, 20],
      [2, 20],
    ]);
    expect(open).toEqual([]);
  });

  test('the error of a check is ignored if the tables were exchanged during the check', async () => {
    let generation = 0;
    const { read, asked, readInTurn } = openTables(() => generation);
    await readInTurn(1);
    const reading = read();
    reading.catch(() => undefined);
    const facts = await asked('facts');
    generation = 1;
    facts.answer(new Error('between two generations'));
    (await asked('facts')).answer(1);
    (await asked('report 1')).answer(10);
    expect(await reading).toEqual([1, 10]);
  });

  test('work with many new answers runs again only once', async () => {
    let value = 1;
    const { tables, request } = tablesOf(async (query, signal) => {
      // The queries for facts are answered before the query of the report.
      if (query === 'report') await new Promise(setImmediate);
      signal?.throwIfAborted();
      return { columns: [], rows: [{ value }] };
    });
    let attempts = 0;
    const read = () =>
      tables.read(async ({ steadyQuery, userQuery }) => {
        attempts += 1;
        const found: unknown[] = [];
        for (const site of ['a', 'b', 'c', 'd']) {
          found.push((await steadyQuery?.(`facts of ${site}`, {}))?.rows[0]?.value);
          await userQuery('report', {});
        }
        return found;
      }, request);
    await read();
    await read();
    attempts = 0;
    value = 2;
    expect(await read()).toEqual([2, 2, 2, 2]);
    expect(attempts).toBe(2);
  });

  test('if one query of a report fails, its other queries are cancelled', async () => {
    let other: AbortSignal | undefined;
    const { tables, request } = tablesOf(async (query, signal) => {
      if (query === 'refused') throw new Error('refused');
      other = signal;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    });
    const reading = tables.read(
      ({ userQuery }) => Promise.all([userQuery('endless', {}), userQuery('refused', {})]),
      request,
    );
    await expect(reading).rejects.toThrow('refused');
    expect(other?.aborted).toBe(true);
  });

  test('work without a request does not call AbortSignal.any, which would keep signals in memory', async () => {
    const { tables } = tablesOf(async () => ({ columns: [], rows: [] }));
    const any = jest.spyOn(AbortSignal, 'any');
    await tables.read(async ({ steadyQuery }) => steadyQuery?.('facts', {}));
    expect(any).not.toHaveBeenCalled();
    any.mockRestore();
  });
});
