import { createSharedAnswers, SHARED_ANSWER_MS } from '@weir/control/shared-answers';

describe('answers that several reports share', () => {
  let now = 0;
  let asked = 0;
  const ask = async () => ++asked;
  beforeEach(() => {
    now = 0;
    asked = 0;
  });

  test('an answer is shared until it is too old, counted from the start of its query', async () => {
    const answers = createSharedAnswers<number>(() => now);
    const slow = async () => {
      now += SHARED_ANSWER_MS / 2;
      return ask();
    };
    expect(await answers.get('a', slow)).toBe(1);
    now = SHARED_ANSWER_MS - 1;
    expect(await answers.get('a', ask)).toBe(1);
    expect(await answers.get('b', ask)).toBe(2);
    now = SHARED_ANSWER_MS;
    expect(await answers.get('a', ask)).toBe(3);
  });

  test('a failed or running query is not shared', async () => {
    const answers = createSharedAnswers<number>(() => now);
    await expect(answers.get('a', () => Promise.reject(new Error('cancelled')))).rejects.toThrow('cancelled');
    expect(await Promise.all([answers.get('a', ask), answers.get('a', ask)])).toEqual([1, 2]);
  });

  test('only a limited number of answers is kept: the oldest are removed', async () => {
    const answers = createSharedAnswers<number>(() => now);
    for (let i = 0; i < 150; i++) await answers.get(`question ${i}`, ask);
    expect(await answers.get('question 149', ask)).toBe(150);
    expect(await answers.get('question 0', ask)).toBe(151);
  });
});
