import { RULE } from '../day/levels-off.ts';
import type { FaultResult } from './fault.ts';
import { CLIENTS } from './faults-options.ts';

/** A section of docs/faults.md with a table. The first column of each row contains a name in backticks. */
export type Section = 'embedded' | 'distributed' | 'mutations' | 'day';

const FAULT_HEAD = `| fault | what happens | rounds | acknowledged | stored | lost | doubled | recovery: median, longest | what the caller saw | run |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |`;
const DAY_HEAD = `\`npm run day\` runs Weir with the embedded engines and a clock that goes faster than real time, in a memory limit of 1 GB and on a disk of 5 GB. It sends the
load of the other faults, and meanwhile hostile requests: malformed, deep, huge and compressed bodies; endless new pages, visitors, browsers, users, properties and
idempotency keys; repeated keys; bots; a flood from one address; unknown sites, wrong keys and guesses of the admin token; reports and SQL without end; idle and slow connections. After a
first day, in which everything fills that Weir keeps for a day, it measures the 24 hours of a second day. The table is written only if all of this holds:

- everything that the list at the beginning of this page says about acknowledged records, raw offsets, sessions and client IPs, and there is no dead letter;
- the two processes of Weir run from the start to the end, no answer is a 5xx other than a 503 with \`Retry-After\`, and their anonymous memory together never exceeds 1 GB;
- each measure with "yes" in the last column levels off: ${RULE}.

The rows of tables do not level off in this run: the rows of the honest clients are kept forever, because the audit compares them, and each removed record leaves a row with the outcome
\`expired\` ([decision 31](decisions/0031-an-expired-record-leaves-a-row.md)). All other rows expire after a day (\`KEEP_EVENTS=1d\`, \`RAW_RETENTION_HOURS=6\`, \`ENRICHED_RETENTION_DAYS=1\`).

What the run does not simulate: the ClickHouse process has the real time, which is the end of the run by the clock of Weir. Timers have real time, so work that is due every minute by a timer (the audit, retention) is done once per real minute. The memory limit is a watch, which reads the memory
of both processes four times per second; it does not limit the page cache.

| measure | of | first quarter | second quarter | third quarter | last quarter | most | last to third | must level off |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |`;
const SECTIONS: Readonly<Record<Section, { readonly title: string; readonly head: string }>> = {
  embedded: { title: '## One machine, with the embedded engines', head: FAULT_HEAD },
  distributed: { title: '## A deployment, with Kafka, Redis and ClickHouse', head: FAULT_HEAD },
  mutations: {
    title: '## What the faults find',
    head: `For each row below, \`npm run faults -- --mutations\` removes the mechanism from a copy of Weir, and makes faults happen until a check fails.

| mechanism | the changed Weir | fault | what was found | run |
| --- | --- | --- | --- | --- |`,
  },
  day: { title: '## A day of hostile traffic', head: DAY_HEAD },
};
const INTRO = `# Faults

Written by \`npm run faults\`. While ${CLIENTS} clients send pageviews, browser events, server events, identifies and payments, the command makes a fault happen
at random moments. If a run had another number of clients, the last column contains this number. Afterwards the command compares everything that
was sent with everything that is stored. A table has a row for a fault only if all of this holds:

- each acknowledged record is stored exactly once, and each other record at most once;
- each raw offset has exactly one outcome, and \`weir audit\` is balanced;
- sessions, profiles and payments are equal to those computed from the list of what was sent;
- on one machine: no file of the data folder contains a client IP in plain text.

The first table below has the faults of one machine, the second table those of a deployment (\`--distributed\`). \`npm run faults -- --list\` also prints
faults that are in neither table, because no run of them is recorded yet. \`npm test\` makes each fault of the first table happen once. Of the second table,
it makes one fault happen for each part of the deployment (for example Redis), chosen at random.

In a deployment, two gateways, two enrichers, two writers and control are processes of their own. They use a real Kafka (one broker), a real Redis, and
ClickHouse over HTTP. Clients reach the gateways, and all processes reach the three services, through proxies that can disturb their connections.
Faults that need three brokers, and faults of certificates, happen to a second deployment: each of its topics has three replicas
(\`min.insync.replicas\` is 2), and its processes reach all services with TLS.

*Acknowledged*: records that Weir answered with success. *Stored*: sent records that are in the tables, also those whose answer was lost.
*Recovery*: from the end of the fault until a new event was acknowledged and could be queried; it includes the start of killed processes.
Since 2026-11-27, the command queries for this event every 250 ms, so a recovery can be up to 0.25 s longer than before.
*What the caller saw*: the number of requests by their answer. \`no connection\`: the connection was refused or lost. \`no answer\`: no
answer within 2 s. Clients repeat each request that was not answered with success, except collect hits, and server events without an idempotency key.

    npm run faults -- --list                       # the faults, and why some cannot happen on this machine
    npm run faults -- --only kill-all --rounds 20  # one fault
    npm run faults -- --distributed                # the faults of a deployment
    npm run faults -- --seed 7                     # the same random moments again
`;

export interface Run {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
}

/**
 * Returns the new text of docs/faults.md. The rows in `added` are replaced or added; all other rows stay. `more`: what happened in the run, for
 * the last line of the section.
 */
export function renewedFaultsPage(
  old: string,
  changed: Section,
  added: ReadonlyMap<string, string>,
  run: Run,
  more = '',
): string {
  const sections = (['embedded', 'distributed', 'mutations', 'day'] as const).flatMap((section) => {
    const { rows, note } = readSection(old, section);
    if (section === changed) for (const [name, row] of added) rows.set(name, row);
    const { title, head } = SECTIONS[section];
    const last = section === changed ? `Last run: ${run.date}, commit ${run.commit}, ${run.machine}.${more}` : note;
    return rows.size === 0 ? [] : [`${title}\n\n${head}\n${[...rows.values()].join('\n')}\n\n${last}\n`];
  });
  return [INTRO, ...sections].join('\n');
}

/** Returns the names in the first column of the table in a section. */
export const namesOn = (page: string, section: Section): ReadonlySet<string> =>
  new Set(readSection(page, section).rows.keys());

function readSection(page: string, section: Section): { readonly rows: Map<string, string>; readonly note: string } {
  const [, text = ''] = page.split(SECTIONS[section].title);
  const [own = ''] = text.split(/^## /m);
  const lines = own.split('\n');
  const rows = lines.flatMap((line) => {
    const name = /^\| `([\w-]+)` \|/.exec(line)?.[1];
    return name === undefined ? [] : [[name, line] as const];
  });
  return { rows: new Map(rows), note: lines.find((line) => line.startsWith('Last run:')) ?? '' };
}

export function faultRow(result: FaultResult, { date, commit }: Run): string {
  const { name, about, rounds, clients, acknowledged, stored, lost, doubled, recoveryMs, saw } = result;
  const sorted = recoveryMs.toSorted((a, b) => a - b);
  const seconds = (ms = 0): string => `${(ms / 1000).toFixed(1)} s`;
  const recovery = `${seconds(sorted[sorted.length >> 1])}, ${seconds(sorted.at(-1))}`;
  const load = clients === CLIENTS ? '' : `, ${clients} clients`;
  const figures = [rounds, acknowledged, stored, lost, doubled].map((figure) => figure.toLocaleString('en-US'));
  return `| \`${name}\` | ${about} | ${figures.join(' | ')} | ${recovery} | ${shownAnswers(saw)} | ${date} ${commit}${load} |`;
}

export function mutationRow(
  name: string,
  about: string,
  fault: string,
  finding: string,
  { date, commit }: Run,
): string {
  const found = finding.slice(0, 160).replaceAll('|', '/');
  return `| \`${name}\` | ${about} | \`${fault}\` | ${found} | ${date} ${commit} |`;
}

export function shownAnswers(saw: ReadonlyMap<string, number>): string {
  const shown = [...saw].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return shown.map(([what, count]) => `${what}: ${count.toLocaleString('en-US')}`).join(', ');
}
