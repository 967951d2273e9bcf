/**
 * The last answers of questions (texts). If a question got the same answer twice in a row, a caller can go on with this answer while the question is
 * asked again, and begin again if the new answer differs.
 */
export interface ExpectedAnswers<Answer> {
  /** The answer to expect. Undefined if the question did not get the same answer twice in a row. */
  of(question: string): Answer | undefined;
  /** Remembers a new answer. Returns whether it equals `expected`, the answer that the caller went on with. */
  learn(question: string, answer: Answer, expected?: Answer): boolean;
}

const QUESTIONS_MAX = 100;

interface Known<Answer> {
  readonly answer: Answer;
  readonly text: string;
  readonly isSteady: boolean;
}

/** `textOf`: a text that two answers have in common if they are equal. Undefined if the answer is too large to be remembered. */
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
      // The last answer does not show this: another caller can have learned the new answer since this caller began.
      return expected !== undefined && text === textOf(expected);
    },
  };
}
