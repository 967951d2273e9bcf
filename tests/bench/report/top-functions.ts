import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const FUNCTIONS_MAX = 25;

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** For each profile of a folder: the functions with the highest self time, with their share of the time that was not idle. */
export function topFunctions(folder: string): string {
  const files = readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'));
  return files.map((file) => `\n${file}\n${topOf(join(folder, file))}`).join('\n');
}

function topOf(file: string): string {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  const names = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || '(anonymous)'}  ${basename(url)}:${lineNumber + 1}`,
    ]),
  );
  const micros = new Map<string, number>();
  let busy = 0;
  profile.samples.forEach((id, i) => {
    const name = names.get(id) ?? '';
    const delta = profile.timeDeltas[i] ?? 0;
    if (name.startsWith('(idle)') || name.startsWith('(root)')) return;
    busy += delta;
    micros.set(name, (micros.get(name) ?? 0) + delta);
  });
  return [...micros]
    .sort(([, a], [, b]) => b - a)
    .slice(0, FUNCTIONS_MAX)
    .map(([name, own]) => `  ${((100 * own) / busy).toFixed(1).padStart(5)} %  ${name}`)
    .join('\n');
}
