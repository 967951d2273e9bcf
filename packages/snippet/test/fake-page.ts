import { join } from 'node:path';
import { build } from 'esbuild';

/** Runs a script in a page with these globals. */
export type Script = (globals: object) => void;

interface PageState {
  readonly url?: string;
  readonly isHidden?: boolean;
  /** Attributes of the script tag, without `data-`. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** The maximum length of all values in local storage together. */
  readonly storageCharsMax?: number;
}

/** A page without a browser, for states that are hard to reach in a browser. The tests in tests/browser use real browsers. */
export interface FakePage {
  /** The hits that arrived, and the endpoints to which requests and beacons were sent. */
  readonly hits: Readonly<Record<string, unknown>>[];
  readonly endpoints: string[];
  /** The delay of each timer that the page has set. */
  readonly timersMs: number[];
  /** The errors that a browser would show in its console. */
  readonly errors: unknown[];
  readonly storage: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: the tests call methods that not each form of the snippet has
  readonly window: any;
  storageCharsMax: number;
  /** The HTTP status of the answers from now on. */
  status: number;
  /** Says whether an endpoint cannot be reached. */
  isBlocked: (endpoint: string) => boolean;
  run(script: Script): void;
  /** Changes the address without a page load. */
  go(path: string): void;
  show(isVisible: boolean): void;
  click(target: object): void;
  /** Runs the timers that wait. */
  runTimers(): void;
  /** Resolves when no request is in progress. */
  settled(): Promise<void>;
}

/** Bundles a file of src/. */
export async function bundleScript(file: string): Promise<Script> {
  const { outputFiles } = await build({
    entryPoints: [join(__dirname, '../src', file)],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'exported',
    // esbuild then replaces async functions by functions that use the global `Promise`, which is `PagePromise`.
    supported: { 'async-await': false },
  });
  const code = `${outputFiles[0]?.text} Object.assign(window, exported);`;
  // The globals of the page are parameters, so that the globals of the tests do not change.
  return (globals) => new Function(...Object.keys(globals), code)(...Object.values(globals));
}

const charsOf = (values: object): number => Object.values(values).join('').length;

export function openFakePage(state: PageState = {}): FakePage {
  const listeners: (readonly [type: string, listener: (event: object) => void])[] = [];
  const addEventListener = (type: string, listener: (event: object) => void) => listeners.push([type, listener]);
  const fire = (type: string, event: object): void => {
    for (const [name, listener] of listeners) if (name === type) listener({ type, ...event });
  };
  const location = new URL(state.url ?? 'https://a.example/');
  const document = {
    cookie: '',
    referrer: '',
    hidden: state.isHidden,
    currentScript: { src: 'https://weir.example/weir.js', dataset: { site: 's', ...state.attributes } },
  };
  const setAddress = (_state: object, _title: string, path: string): void => {
    location.href = new URL(path, location.href).href;
  };
  const history = { pushState: setAddress, replaceState: setAddress };
  const storage = new Proxy<Record<string, string>>(
    {},
    {
      set(values, name: string, value) {
        if (charsOf({ ...values, [name]: value }) > page.storageCharsMax) throw new Error('the quota is exceeded');
        values[name] = String(value);
        return true;
      },
    },
  );
  const receive = (endpoint: string, body: string): boolean => {
    page.endpoints.push(endpoint);
    if (page.isBlocked(endpoint)) return false;
    page.hits.push(JSON.parse(body));
    return true;
  };
  let timers: (() => void)[] = [];
  /** Records errors and never rejects, because in Node an unhandled rejection would end the test. */
  class PagePromise<T> extends Promise<T> {
    constructor(start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void) {
      super((resolve) => {
        const reject = (error: unknown) => page.errors.push(error);
        try {
          start(resolve, reject);
        } catch (error) {
          reject(error);
        }
      });
    }
  }
  const globals = {
    document,
    location,
    history,
    addEventListener,
    window: {},
    localStorage: storage,
    screen: { width: 800, height: 600 },
    navigator: { sendBeacon: receive },
    Promise: PagePromise,
    setTimeout(run: () => void, ms: number) {
      page.timersMs.push(ms);
      return timers.push(run);
    },
    clearTimeout(timer: number) {
      delete timers[timer - 1];
    },
    async fetch(endpoint: string, { body }: { readonly body: string }) {
      if (!receive(endpoint, body)) throw new TypeError('Failed to fetch');
      return { status: page.status, headers: new Headers() };
    },
  };
  const page: FakePage = {
    hits: [],
    endpoints: [],
    timersMs: [],
    errors: [],
    storage,
    window: globals.window,
    storageCharsMax: state.storageCharsMax ?? 5_000_000,
    status: 202,
    isBlocked: () => false,
    run: (script) => script(globals),
    go: (path) => history.replaceState({}, '', path),
    show(isVisible) {
      document.hidden = !isVisible;
      fire('visibilitychange', {});
    },
    click: (target) => fire('click', { target, button: 0 }),
    runTimers() {
      const waiting = timers;
      timers = [];
      for (const run of waiting) run?.();
    },
    settled: () => new Promise((resolve) => setImmediate(resolve)),
  };
  return page;
}
