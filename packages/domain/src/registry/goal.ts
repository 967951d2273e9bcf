/** The rows that a goal counts: events with one name, or pageviews of the pages that a glob matches. */
export interface Action {
  readonly type: ActionType;
  /** The name of the event, or the glob: `*` stands for any characters. */
  readonly value: string;
}

export const ACTION_TYPES = ['event', 'page'] as const;
export type ActionType = (typeof ACTION_TYPES)[number];

/** A goal of a site. */
export interface Goal extends Action {
  readonly goalId: string;
  readonly siteId: string;
  readonly name: string;
  /** The time at which the goal was added, in Unix milliseconds. */
  readonly createdAt: number;
}

export const EVENT_NAME_CHARS_MAX = 128;
export const PAGE_GLOB_CHARS_MAX = 1024;
export const GOAL_NAME_CHARS_MAX = 255;
export const FUNNEL_STEPS_MIN = 2;
export const FUNNEL_STEPS_MAX = 8;
/** The maximum length of a funnel step as text: the type of the action, a colon, and the value. */
export const STEP_CHARS_MAX = 'page:'.length + PAGE_GLOB_CHARS_MAX;

/** Returns what is wrong with the value of an action; `undefined` if it is valid. */
export function actionProblem({ type, value }: Action): string | undefined {
  if (type === 'event') {
    const chars = [...value].length;
    if (chars === 0 || chars > EVENT_NAME_CHARS_MAX || !/^[^$\p{Cc}]\P{Cc}*$/u.test(value)) {
      return `the name of an event must have 1 to ${EVENT_NAME_CHARS_MAX} chars and must not begin with $`;
    }
    return undefined;
  }
  if ([...value].length > PAGE_GLOB_CHARS_MAX || !/^[/*]\P{Cc}*$/u.test(value)) {
    return `a page must be a glob of up to ${PAGE_GLOB_CHARS_MAX} chars that begins with / or *, such as /checkout/*`;
  }
  return undefined;
}
