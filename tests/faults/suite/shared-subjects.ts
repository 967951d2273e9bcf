import type { Fault, Subject } from './fault.ts';

/** Running Weirs that wait for the next fault with the same `shares`. They are kept, because a start takes longer than most faults. */
const waiting = new Map<string, Subject>();

/** Returns a running Weir that an earlier fault with the same `shares` has used, or starts a new one. */
export async function borrow<Broken extends Subject>(fault: Fault<Broken>): Promise<Broken> {
  const { shares } = fault;
  const kept = shares === undefined ? undefined : waiting.get(shares);
  if (shares === undefined || kept === undefined) return fault.open();
  waiting.delete(shares);
  return kept as Broken;
}

/** Keeps the Weir for the next fault with the same `shares`. Without `shares`, closes it. Call it only if Weir has survived the fault. */
export async function giveBack<Broken extends Subject>({ shares }: Fault<Broken>, broken: Broken): Promise<void> {
  if (shares === undefined) await broken.close();
  else waiting.set(shares, broken);
}

export async function closeShared(): Promise<void> {
  const all = [...waiting.values()];
  waiting.clear();
  await Promise.all(all.map((broken) => broken.close()));
}
