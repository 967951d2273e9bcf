import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { loadText } from '../../bench/report/machine.ts';
import { DISTRIBUTED_FAULTS } from '../../distributed/kinds/distributed-faults.ts';
import { MUTATION } from '../failpoints/failing-program.ts';
import { MUTATIONS } from '../failpoints/mutations.ts';
import { EMBEDDED_FAULTS } from './embedded-faults.ts';
import type { FaultResult } from './fault.ts';
import { type FaultsOptions, readFaultsOptions, USAGE } from './faults-options.ts';
import { faultRow, mutationRow, type Run, type Section, shownAnswers } from './faults-page.ts';
import { NOT_RECOVERED } from './run-fault.ts';
import type { Runnable } from './runnable.ts';
import { closeShared } from './shared-subjects.ts';
import { writeFaultsPage } from './write-faults-page.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** The beginning of each printed line that names a defect found during or after the fault. `findingsOf` searches for it. */
const FINDING = '  - ';

async function main(options: FaultsOptions): Promise<void> {
  const { only, list, mutations, distributed } = options;
  const faults = distributed ? DISTRIBUTED_FAULTS : EMBEDDED_FAULTS;
  const known = mutations ? MUTATIONS : faults;
  const unknown = (only ?? []).filter((name) => !known.some((one) => one.name === name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')} (--list prints the names)`);
  const isChosen = ({ name }: { readonly name: string }): boolean => only?.includes(name) ?? true;
  if (mutations) runMutations(MUTATIONS.filter(isChosen), options);
  else if (list) printList(faults.filter(isChosen));
  else await runFaults(faults.filter(isChosen), options);
}

function printList(faults: readonly Runnable[]): void {
  for (const { name, about, problem } of faults) {
    const reason = problem();
    console.log(`${name.padEnd(28)} ${about}${reason === undefined ? '' : ` (not here: ${reason})`}`);
  }
}

async function runFaults(
  faults: readonly Runnable[],
  { rounds, seed, clients, distributed }: FaultsOptions,
): Promise<void> {
  console.log(`faults: --seed ${seed}, ${rounds} rounds each, ${clients} clients, load average ${loadText()}`);
  let failed = 0;
  for (const fault of faults) {
    const problem = fault.problem();
    if (problem !== undefined) {
      console.log(`${fault.name}: cannot happen here: ${problem}`);
      continue;
    }
    const startedAt = performance.now();
    const result = await fault.run({ rounds, seed, clients, short: false }).catch((error: Error) => error);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    if (result instanceof Error || result.findings.length > 0) {
      failed += 1;
      const why =
        result instanceof Error ? inspect(result) : result.findings.map((text) => `${FINDING}${text}`).join('\n');
      console.log(`${fault.name}: FAILED after ${seconds} s\n${why}`);
      continue;
    }
    console.log(`${fault.name}: survived in ${seconds} s. ${shown(result)}`);
    // docs/faults.md is written after each fault, so that an interrupted run keeps the rows of the faults before.
    if (MUTATION === undefined)
      write(distributed ? 'distributed' : 'embedded', fault.name, (run) => faultRow(result, run));
  }
  await closeShared();
  console.log(`faults: ${failed} of ${faults.length} failed; load average ${loadText()}`);
  if (failed > 0) process.exitCode = EXIT_FAILED;
}

function shown({ acknowledged, stored, lost, doubled, recoveryMs, saw }: FaultResult): string {
  const longest = Math.round(Math.max(...recoveryMs));
  return `${acknowledged} acknowledged, ${stored} stored, ${lost} lost, ${doubled} doubled, recovered within ${longest} ms; ${shownAnswers(saw)}`;
}

/** For each mutation (a defect that is built into Weir), runs the faults that must find it, until one of them fails. Each run is a process. */
function runMutations(mutations: typeof MUTATIONS, { rounds, seed }: FaultsOptions): void {
  for (const { name, about, foundBy } of mutations) {
    const found = foundBy.some((fault) => {
      const args = ['--import', 'tsx', fileURLToPath(import.meta.url), '--only', fault];
      const env = { ...process.env, WEIR_FAULT_MUTATION: name };
      const child = spawnSync(process.execPath, [...args, '--rounds', String(rounds), '--seed', String(seed)], {
        ...{ cwd: PROJECT_ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] },
      });
      const findings = child.status === EXIT_FAILED ? findingsOf(child.stdout) : [];
      if (findings[0] === undefined) {
        console.log(`${name}: ${fault} does not find it:\n${child.stdout}`);
        return false;
      }
      console.log(`${name}: found by ${fault}\n${findings.join('\n')}`);
      const [finding] = findings;
      write('mutations', name, (run) => mutationRow(name, about, fault, finding, run));
      return true;
    });
    if (found) continue;
    console.log(`${name}: NOT FOUND by ${foundBy.join(', ')}`);
    process.exitCode = EXIT_FAILED;
  }
}

/**
 * Returns the defects that the output of a run names, including the error that Weir did not recover. Ignores other errors: they happen before the
 * load, and can have other reasons, such as a mutation that cannot be built.
 */
function findingsOf(output: string): readonly string[] {
  const lines = output.split('\n');
  const findings = lines.filter((line) => line.startsWith(FINDING)).map((line) => line.slice(FINDING.length));
  const error = lines.find((line) => line.startsWith(`Error: ${NOT_RECOVERED}`));
  return error === undefined ? findings : [...findings, error.slice('Error: '.length)];
}

const write = (section: Section, name: string, rowOf: (run: Run) => string): void =>
  writeFaultsPage(section, (run) => new Map([[name, rowOf(run)]]));

function options(): FaultsOptions {
  try {
    return readFaultsOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`faults: ${(error as Error).message}\n\n${USAGE}`);
    return process.exit(EXIT_USAGE);
  }
}

const chosen = options();
if (chosen.help) console.log(USAGE);
else await main(chosen);
