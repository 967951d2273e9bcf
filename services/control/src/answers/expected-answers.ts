/**
 * Remembers the last answer to each question. A question is a text. If the last two answers to a question were equal, a caller can use this answer
 * at once, and ask the question again at the same time. If the new answer differs, the caller must repeat its work with the new answer.
 */
export interface ExpectedAnswers<Answer> {
  /** The last answer, if it equals the answer before it. Otherwise undefined. */
  of(question: string): Answer | undefined;
  /**
   * Remembers a new answer. `expected`: the answer that the caller has used. Returns true if the new answer equals `expected`. Returns false without
   * `expected`, and for an answer that is too large to be remembered.
   */
  learn(question: string, answer: Answer, expected?: Answer): boolean;
}

const QUESTIONS_MAX = 100;

interface Known<Answer> {
  readonly answer: Answer;
  readonly text: string;
  readonly isSteady: boolean;
}

/** `textOf` returns a text that is the same only for equal answers. It returns undefined for an answer that is too large to be remembered. */
export function createExpectedAnswers<Answer>(textOf: (answer: Answer) => string | undefined): ExpectedAnswers<Answer> {
  const known = new Map<string, Known<Answer>>();
  return {
    of(question) {
      const last = known.get(question);
      return last?.isSteady === true ? last.answer : undefined;
    },
    learn(question, answer, expected) {
      const before = known.get(question);
      known.delete(question);
      const text = textOf(answer);
      if (text === undefined) return false;
      known.set(question, { answer, text, isSteady: before?.text === text });
      // The first key of a Map is the one that was set the longest time ago.
      if (known.size > QUESTIONS_MAX) known.delete(known.keys().next().value as string);
      // Compares with `expected`, not with the last answer, because another call of `learn` may already have stored the new answer.
      return expected !== undefined && text === textOf(expected);
    },
  };
}
