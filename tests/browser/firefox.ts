import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import type { DrivenBrowser } from './driven-browser.ts';
import { killBrowser } from './kill-browser.ts';

export const FIREFOX = '/usr/bin/firefox-esr';
const LISTENING = /WebDriver BiDi listening on (ws:\S+)/;
const PREFERENCES = {
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.normandy.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
};

interface Answer {
  readonly id?: number;
  readonly type: 'success' | 'error' | 'event';
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

/** Opens Debian's Firefox, controlled through WebDriver BiDi. `preferences` are added to those of the profile. */
export async function openFirefox(preferences: Readonly<Record<string, boolean>> = {}): Promise<DrivenBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'weir-firefox-'));
  const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
    ([name, value]) => `user_pref("${name}", ${value});\n`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'];
  const child = spawn(FIREFOX, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const socket = new WebSocket(`${await listening(child)}/session`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));

  const waiting = new Map<number, (answer: Answer) => void>();
  socket.on('message', (text) => {
    const answer = JSON.parse(String(text)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
  });
  let id = 0;
  const send = async <T>(method: string, params: object): Promise<T> => {
    id += 1;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const answer = await answered;
    if (answer.type === 'error') throw new Error(`${method}: ${answer.error}: ${answer.message}`);
    return answer.result as T;
  };

  await send('session.new', { capabilities: {} });
  const { contexts } = await send<{ contexts: { context: string }[] }>('browsingContext.getTree', {});
  const tabs = contexts.map(({ context }) => context);
  const front = (): string => tabs.at(-1) ?? '';
  return {
    name: 'Firefox',
    goto: (url) => send('browsingContext.navigate', { context: front(), url, wait: 'complete' }),
    back: () => send('browsingContext.traverseHistory', { context: front(), delta: -1 }),
    async evaluate<T>(expression: string) {
      const { result, exceptionDetails } = await send<{
        result?: { value?: string };
        exceptionDetails?: { text: string };
      }>('script.evaluate', {
        expression: `(async () => JSON.stringify(await (${expression})))()`,
        target: { context: front() },
        awaitPromise: true,
      });
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
      return (result?.value === undefined ? undefined : JSON.parse(result.value)) as T;
    },
    async openTab() {
      tabs.push((await send<{ context: string }>('browsingContext.create', { type: 'tab' })).context);
    },
    async closeTab() {
      await send('browsingContext.close', { context: tabs.pop() });
    },
    async close() {
      socket.close();
      await killBrowser(child);
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.once('exit', () => reject(new Error(`Firefox ended at its start:\n${printed}`)));
    child.stderr?.on('data', (chunk: Buffer) => {
      printed += String(chunk);
      const [, address] = LISTENING.exec(printed) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
}
