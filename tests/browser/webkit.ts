import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import type { DrivenBrowser } from './driven-browser.ts';
import { killBrowser } from './kill-browser.ts';

export const WEBKIT_DRIVER = '/usr/bin/WebKitWebDriver';
export const XVFB = '/usr/bin/Xvfb';
const MINI_BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';
const ANSWER_WITHIN_MS = 60_000;
const SESSION_WITHIN_MS = 120_000;
/** The sandbox of WebKit cannot start in containers without user namespaces. */
const NO_SANDBOX = {
  WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
  LIBGL_ALWAYS_SOFTWARE: '1',
  WEBKIT_DISABLE_COMPOSITING_MODE: '1',
};

/** Opens Debian's WebKitGTK, controlled through WebDriver, on a virtual screen. */
export async function openWebKit(): Promise<DrivenBrowser> {
  const display = `:${await freePort()}`;
  const screen = spawn(XVFB, [display, '-screen', '0', '1024x768x24', '-nolisten', 'tcp'], {
    stdio: 'ignore',
    detached: true,
  });
  // A browser that starts before the screen listens ends at once.
  await eventually('the virtual screen', () => existsSync(`/tmp/.X11-unix/X${display.slice(1)}`));
  const port = await freePort();
  const env = { ...process.env, ...NO_SANDBOX, DISPLAY: display, GDK_BACKEND: 'x11' };
  const driver = spawn(WEBKIT_DRIVER, ['--host=127.0.0.1', `--port=${port}`], { stdio: 'ignore', detached: true, env });

  const send = async <T>(method: string, path: string, body?: object, withinMs = ANSWER_WITHIN_MS): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      signal: AbortSignal.timeout(withinMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const { value } = (await response.json()) as { value: T };
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  };
  const options = { 'webkitgtk:browserOptions': { binary: MINI_BROWSER, args: ['--automation'] } };
  await eventually('WebKitWebDriver', () => send<object>('GET', '/status'));
  // This request is not repeated. WebKitWebDriver allows one session at a time. A second request during the start of the browser would break the
  // first one too.
  const wanted = { capabilities: { alwaysMatch: options } };
  const { sessionId } = await send<{ sessionId: string }>('POST', '/session', wanted, SESSION_WITHIN_MS);
  const session = `/session/${sessionId}`;
  const tabs = [await send<string>('GET', `${session}/window`)];
  const toFront = () => send('POST', `${session}/window`, { handle: tabs.at(-1) });
  return {
    name: 'WebKit',
    goto: (url) => send('POST', `${session}/url`, { url }),
    back: () => send('POST', `${session}/back`, {}),
    async evaluate<T>(expression: string) {
      const script = `const done = arguments[0];
        (async () => (${expression}))().then((value) => done({ value }), (error) => done({ error: String(error) }));`;
      const found = await send<{ value?: T; error?: string }>('POST', `${session}/execute/async`, { script, args: [] });
      if (found.error !== undefined) throw new Error(found.error);
      return found.value as T;
    },
    async openTab() {
      // A new tab would stay in the background, so this opens a new window, which is in the foreground.
      tabs.push((await send<{ handle: string }>('POST', `${session}/window/new`, { type: 'window' })).handle);
      await toFront();
    },
    async closeTab() {
      await send('DELETE', `${session}/window`);
      tabs.pop();
      await toFront();
    },
    async close() {
      await send('DELETE', session);
      await killBrowser(driver);
      await killBrowser(screen);
    },
  };
}
