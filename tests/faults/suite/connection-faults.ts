import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Round, Subject } from './fault.ts';
import type { FaultyProxy, ProxyMode } from './faulty-proxy.ts';

const LEAST_MS = 1_000;
const MOST_MS = { short: 2_500, long: 10_000 } as const;

/** Waits for the random duration of a fault: 1 to 10 s, or 1 to 2.5 s if the round is short. */
export function duration({ random, short }: Round): Promise<void> {
  return pause(LEAST_MS + random() * ((short ? MOST_MS.short : MOST_MS.long) - LEAST_MS));
}

/** How a group of faults opens Weir, and whether its faults use the same Weir. */
export type Opening<Broken extends Subject> = Pick<Fault<Broken>, 'open' | 'shares'>;

/** The faults of all connections between `from` and `to`. These connections go through the proxies that `proxiesOf` returns. */
export function connectionFaults<Broken extends Subject>(
  { name, from, to }: { readonly name: string; readonly from: string; readonly to: string },
  opening: Opening<Broken>,
  proxiesOf: (broken: Broken) => readonly FaultyProxy[],
): readonly Fault<Broken>[] {
  const faults: readonly (readonly [mode: ProxyMode, about: string])[] = [
    ['slow', `data between ${from} and ${to} is slow`],
    ['silent', `connections between ${from} and ${to} hang, and continue later`],
    ['half-open', `data between ${from} and ${to} is lost, and the connections stay open`],
    ['reset', `connections between ${from} and ${to} are reset when data comes`],
    ['away', `${from} cannot reach ${to}, and existing connections are reset`],
  ];
  return faults.map(([mode, about]) => ({
    ...{ ...opening, name: `${name}-${mode}`, about },
    async strike(broken, round) {
      const proxies = proxiesOf(broken);
      for (const proxy of proxies) proxy.set(mode);
      await duration(round);
      for (const proxy of proxies) proxy.set('pass');
    },
  }));
}
