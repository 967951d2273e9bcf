import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { browserLabel, deviceLabel, systemLabel } from './labels.ts';

/**
 * A user agent of a public set, with the labels of the set translated to Weir's terms. A label is undefined if the set does not have it.
 */
export interface AgentCase {
  readonly userAgent: string;
  readonly browser?: string | undefined;
  readonly os?: string | undefined;
  readonly device?: string | undefined;
  readonly screenWidth?: number;
  readonly screenHeight?: number;
}

export interface AgentSet {
  readonly name: string;
  readonly licence: string;
  readonly cases: readonly AgentCase[];
}

/** The folder of a package. The files are read by path, because most of these packages do not export them. */
const folderOf = (name: string): string => join('node_modules', name);
const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;
const readYaml = <T>(path: string): T => parse(readFileSync(path, 'utf8')) as T;

/** Removes cases that repeat the user agent and the screen size of another case. */
function once(cases: readonly AgentCase[]): readonly AgentCase[] {
  const key = (found: AgentCase) => `${found.userAgent} ${found.screenWidth}x${found.screenHeight}`;
  return [...new Map(cases.map((found) => [key(found), found])).values()];
}

interface Visit {
  readonly userAgent: string;
  readonly platform: string;
  readonly deviceCategory: string;
  readonly screenWidth: number;
  readonly screenHeight: number;
}

/** Visits of 2026, with what scripts in the browser can read about the machine: `navigator.platform` and the screen. */
export function visits(): AgentSet {
  const found = readJson<readonly Visit[]>(join(folderOf('user-agents'), 'dist/user-agents.json'));
  const cases = found.map((visit) => ({
    userAgent: visit.userAgent,
    os: platformLabel(visit),
    device: visit.deviceCategory,
    screenWidth: visit.screenWidth,
    screenHeight: visit.screenHeight,
  }));
  return { name: 'user-agents', licence: 'BSD-2-Clause', cases: once(cases) };
}

/**
 * The operating system of a visit; undefined if the platform and the user agent do not show it. For example, a program that imitates a browser can
 * send the user agent of an iPhone, although its platform is `Linux x86_64`.
 */
function platformLabel({ platform, userAgent }: Visit): string | undefined {
  if (/^iP/.test(platform)) return 'iOS';
  if (platform === 'MacIntel') return 'macOS';
  if (platform === 'Win32') return 'Windows';
  if (/^Linux (?:arm|aarch)/.test(platform)) return 'Android';
  return /\bX11; (?:Ubuntu; |Fedora; )?Linux/.test(userAgent) ? 'Linux' : undefined;
}

interface RealAgent {
  readonly pattern: string;
  readonly browserId: string;
  readonly operatingSystemId: string;
}
type Named = Readonly<Record<string, { readonly name: string }>>;

/** User agents of real desktop browsers. The package collects them from BrowserStack and other sources. */
export function desktops(): AgentSet {
  const data = join(folderOf('@ulixee/real-user-agents'), 'data');
  const browsers = readJson<Named>(join(data, 'browsersById.json'));
  const systems = readJson<Named>(join(data, 'operatingSystemsById.json'));
  const agents = Object.values(readJson<Readonly<Record<string, RealAgent>>>(join(data, 'userAgentsById.json')));
  const cases = agents.map(({ pattern, browserId, operatingSystemId }) => ({
    userAgent: pattern.replaceAll('$patch$', '100'),
    browser: browserLabel(browsers[browserId]?.name),
    os: systemLabel(systems[operatingSystemId]?.name),
    device: 'desktop',
  }));
  return { name: '@ulixee/real-user-agents', licence: 'MIT', cases: once(cases) };
}

interface ParserTest {
  readonly ua: string;
  readonly expect: { readonly name?: string; readonly type?: string };
}

/**
 * The tests of ua-parser-js, the library that Weir uses, in their last published form. They show which results the library
 * itself intends.
 */
export function parserTests(): AgentSet {
  const tests = (kind: string) =>
    readJson<readonly ParserTest[]>(join(folderOf('ua-parser-js-fixtures'), `test/${kind}-test.json`));
  const cases = [
    ...tests('browser').map(({ ua, expect }) => ({ userAgent: ua, browser: browserLabel(expect.name) })),
    ...tests('os').map(({ ua, expect }) => ({ userAgent: ua, os: systemLabel(expect.name) })),
    ...tests('device').map(({ ua, expect }) => ({ userAgent: ua, device: deviceLabel(expect.type) })),
  ];
  return { name: 'ua-parser-js 1.0.2, its tests', licence: 'MIT', cases };
}

interface WootheeTest {
  readonly target: string;
  readonly name: string;
  readonly os: string;
  readonly category: string;
}
const WOOTHEE_CRAWLERS = ['crawler', 'crawler_google', 'crawler_nonmajor'];
const WOOTHEE_PEOPLE =
  'appliance mobilephone_au mobilephone_docomo mobilephone_misc mobilephone_softbank pc_lowpriority pc_misc pc_windows smartphone_android smartphone_ios smartphone_misc';

function wootheeTests(names: readonly string[]): readonly WootheeTest[] {
  const folder = join(folderOf('woothee'), 'woothee/testsets');
  return names.flatMap((name) => readYaml<readonly WootheeTest[]>(join(folder, `${name}.yaml`)));
}

export function woothee(): AgentSet {
  const cases = wootheeTests(WOOTHEE_PEOPLE.split(' ')).map(({ target, name, os, category }) => ({
    userAgent: target,
    browser: browserLabel(name),
    os: systemLabel(os),
    device: deviceLabel(category, os),
  }));
  return { name: 'woothee', licence: 'Apache-2.0', cases: once(cases) };
}

export function wootheeCrawlers(): readonly string[] {
  return [...new Set(wootheeTests(WOOTHEE_CRAWLERS).map(({ target }) => target))];
}

interface UapTests {
  readonly test_cases: readonly { readonly user_agent_string: string; readonly family: string }[];
}

/** The tests of uap-core, from an npm package of 2013. It is the last package with these tests: uap-core's own packages do not contain them. */
export function uapTests(): AgentSet {
  const folder = join(folderOf('uap-core-fixtures'), 'test_resources');
  const tests = (name: string) => readYaml<UapTests>(join(folder, `${name}.yaml`)).test_cases;
  const browsers = [...tests('test_user_agent_parser'), ...tests('firefox_user_agent_strings')];
  const systems = [...tests('test_user_agent_parser_os'), ...tests('additional_os_tests')];
  const cases = [
    ...browsers.map((test) => ({ userAgent: test.user_agent_string, browser: browserLabel(test.family) })),
    ...systems.map((test) => ({ userAgent: test.user_agent_string, os: systemLabel(test.family) })),
    ...tests('test_device').map((test) => ({ userAgent: test.user_agent_string, device: deviceLabel(test.family) })),
  ];
  return { name: 'uap-core, tests of 2013', licence: 'MIT or Apache-2.0', cases };
}

interface Crawler {
  readonly instances: readonly string[];
  readonly tags?: readonly string[];
}

/** Every user agent of the list, or only those of crawlers with this tag. */
export function crawlers(tag?: string): readonly string[] {
  const list = readJson<readonly Crawler[]>(join(folderOf('crawler-user-agents'), 'crawler-user-agents.json'));
  const kept = tag === undefined ? list : list.filter((crawler) => crawler.tags?.includes(tag));
  return [...new Set(kept.flatMap((crawler) => crawler.instances))];
}
