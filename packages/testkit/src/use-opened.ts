interface Closable {
  close(): unknown;
}

/** Time limits of the hooks. The default is that of Jest. */
export interface HookLimits {
  readonly openMs?: number;
  readonly closeMs?: number;
}

/**
 * Opens something before the tests of the surrounding `describe` block or file, and closes it after them. The members of the result can only be
 * used in tests, and in hooks that are declared later. Jest calls the hooks that close in the order of the calls of this function. So if one thing
 * uses another, `open` must open both.
 */
export function useOpened<Opened extends Closable>(
  open: () => Promise<Opened>,
  { openMs, closeMs }: HookLimits = {},
): Opened {
  const { members, start, end } = openLater(open);
  beforeAll(start, openMs);
  afterAll(end, closeMs);
  return members;
}

/** Does the same as `useOpened` before and after each test. */
export function useOpenedInEachTest<Opened extends Closable>(open: () => Promise<Opened>): Opened {
  const { members, start, end } = openLater(open);
  beforeEach(start);
  afterEach(end);
  return members;
}

function openLater<Opened extends Closable>(open: () => Promise<Opened>) {
  const members = {} as Opened;
  let opened: Opened | undefined;
  return {
    members,
    async start() {
      opened = await open();
      // Also copies getters and setters.
      Object.defineProperties(members, Object.getOwnPropertyDescriptors(opened));
    },
    async end() {
      await opened?.close();
      opened = undefined;
    },
  };
}
