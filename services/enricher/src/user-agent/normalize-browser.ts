import type { UserAgent } from './user-agent.ts';

/** Matches the versions of Chrome in the web views of Android 5 and later. Browsers of makers on Android 4 used Chrome 28 to 36. */
const CHROME = /\bChrome\/((?:3[7-9]|[4-9]\d|\d{3,})\.[\d.]+)/;
/** Matches the last product of a program that uses the engine of Firefox, for example `Thunderbird/128.2.0`. */
const GECKO_PROGRAM = /\bGecko\/\d+ ([A-Z]\w+)\/(\d[\w.]*)$/;

/** Corrects browsers for which ua-parser-js returns a general name. */
export function normalizeBrowser<Agent extends Pick<UserAgent, 'browser' | 'browserVersion'>>(
  agent: Agent,
  userAgent: string,
): Agent {
  // An app whose user agent has no `; wv` shows the page. Android's old browser did not use these versions.
  const chrome = agent.browser === 'Android Browser' ? CHROME.exec(userAgent) : null;
  if (chrome !== null) return { ...agent, browser: 'Android WebView', browserVersion: chrome[1] ?? '' };
  const program = agent.browser === 'Mozilla' ? GECKO_PROGRAM.exec(userAgent) : null;
  return program === null ? agent : { ...agent, browser: program[1] ?? '', browserVersion: program[2] ?? '' };
}
