import type { Texts } from './text-context.tsx';

const OUTCOMES = ['row', 'identify', 'duplicate', 'dropped', 'dead', 'erased', 'expired'] as const;

/** The label of an outcome (docs/glossary.md). An outcome without a label is returned as it is. */
export function outcomeText({ t }: Pick<Texts, 't'>, name: string): string {
  const outcome = OUTCOMES.find((one) => one === name);
  return outcome === undefined ? name : t(`outcome.${outcome}`);
}
