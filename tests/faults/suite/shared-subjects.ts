import type { Fault, Subject } from './fault.ts';

/** The Weirs that wait for the next fault. A start takes longer than most faults. */
const waiting = new Map<string, Subject>();

/** Returns the Weir that an earlier fault has given back, or starts a new Weir. */
export async function borrow<Broken extends Subject>(fault: Fault<Broken>): Promise<Broken> {
  const { shares } = fault;
  const kept = shares === undefined ? undefined : waiting.get(shares);
  if (shares === undefined || kept === undefined) return fault.open();
  waiting.delete(shares);
  return kept as Broken;
}

/** Keeps the Weir for the next fault that can use it, or closes it. Call it only for a Weir that has survived the fault. */
export async function giveBack<Broken extends Subject>({ shares }: Fault<Broken>, broken: Broken): Promise<void> {
  if (shares === undefined) await broken.close();
  else waiting.set(shares, broken);
}

/** Closes all Weirs that wait. */
export async function closeShared(): Promise<void> {
  const all = [...waiting.values()];
  waiting.clear();
  await Promise.all(all.map((broken) => broken.close()));
}
