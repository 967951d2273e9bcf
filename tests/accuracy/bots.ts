import { judgeBot } from '@weir/enricher/user-agent/judge-bot';
import { type AgentSet, crawlers, desktops, parserTests, visits, woothee, wootheeCrawlers } from './agent-sets.ts';
import { commonest } from './commonest.ts';
import { MAINSTREAM } from './mainstream.ts';
import { percent, type Section, table } from './section.ts';

const isBot = (userAgent: string): boolean => judgeBot(userAgent, undefined).name !== '';

/** Measures how many bots are recognised as bots, and how many people are wrongly recognised as bots. */
export function bots(): Section {
  const known = crawlers();
  const aiCrawlers = crawlers('ai-crawler');
  const old = wootheeCrawlers();
  const all = [...new Set([...known, ...old])];
  const people = [visits(), desktops(), parserTests(), woothee()].map((set) => ({
    set,
    agents: mainstreamAgents(set),
  }));
  const persons = people.flatMap(({ agents }) => agents);
  const found = all.filter(isBot);
  const wronged = persons.filter(isBot);
  const row = (what: string, set: string, agents: readonly string[]) => [
    what,
    set,
    agents.length,
    agents.filter(isBot).length,
    percent(agents.filter(isBot).length / agents.length),
  ];
  return {
    title: 'Bots',
    markdown: [
      'Every user agent in the lists of bots is counted. The user agents of people are the mainstream ones (see above) of the other sets.',
      "Weir also uses the package isbot, which is itself tested with crawler-user-agents. Other bots can have a lower share. Before Weir's",
      'lists were improved with the misses of these sets, 99.58 % of the bots and 0.41 % of the people were recognised as bots. The',
      'older sets label some bots as browsers, for example curl and PhantomJS.',
      '',
      table(
        ['what', 'set', 'agents', 'called bots', 'share'],
        [
          row('bots', 'crawler-user-agents (MIT)', known),
          row('of those, AI crawlers', 'crawler-user-agents (MIT)', aiCrawlers),
          row('bots', 'woothee, crawlers (Apache-2.0)', old),
          ...people.map(({ set, agents }) => row('people', `${set.name} (${set.licence})`, agents)),
        ],
      ),
      '',
      '### Reasons given',
      '',
      table(['bot_reason', 'agents'], reasons(all)),
      '',
      '### Bots that count as people',
      '',
      commonest(all.filter((agent) => !isBot(agent)).map((example) => ({ what: firstWord(example), example }))),
      '',
      '### People who count as bots',
      '',
      commonest(wronged.map((example) => ({ what: judgeBot(example, undefined).name, example }))),
    ].join('\n'),
    targets: [
      { name: 'bots called bots', reached: found.length / all.length, wanted: { atLeast: 0.99 }, cases: all.length },
      {
        name: 'mainstream browsers called bots',
        reached: wronged.length / persons.length,
        wanted: { atMost: 0.01 },
        cases: persons.length,
      },
    ],
  };
}

function mainstreamAgents({ cases }: AgentSet): readonly string[] {
  const kept = cases.filter(
    ({ browser, os, device }) =>
      MAINSTREAM.browser.has(browser ?? '') || MAINSTREAM.os.has(os ?? '') || MAINSTREAM.device.has(device ?? ''),
  );
  return [...new Set(kept.map(({ userAgent }) => userAgent))];
}

function reasons(agents: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const agent of agents) {
    const reason = judgeBot(agent, undefined).reason || '(none: counts as a person)';
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([, x], [, y]) => y - x);
}

function firstWord(agent: string): string {
  return /\(compatible; ([^;/)]+)/.exec(agent)?.[1] ?? agent.split(/[\s/]/)[0] ?? '';
}
