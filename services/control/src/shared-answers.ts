/** Keeps answers for a short time, so that the reports of a dashboard share them. */
export interface SharedAnswers<Answer> {
  /** Resolves with the answer to the question, or with an earlier one whose query began less than `SHARED_ANSWER_MS` ago. */
  get(question: string, ask: () => Promise<Answer>): Promise<Answer>;
}

export const SHARED_ANSWER_MS = 2_000;
const ANSWERS_MAX = 100;

/**
 * Shares only answers that are complete. A running query is not shared, because it is cancelled when the request that started it is cancelled.
 */
export function createSharedAnswers<Answer>(clock: () => number): SharedAnswers<Answer> {
  const answers = new Map<string, { readonly askedAt: number; readonly answer: Answer }>();

  function removeOld(): void {
    for (const [question, { askedAt }] of answers) {
      if (clock() - askedAt >= SHARED_ANSWER_MS || answers.size >= ANSWERS_MAX) answers.delete(question);
    }
  }

  return {
    async get(question, ask) {
      removeOld();
      const known = answers.get(question);
      if (known !== undefined) return known.answer;
      const askedAt = clock();
      const answer = await ask();
      answers.set(question, { askedAt, answer });
      return answer;
    },
  };
}
