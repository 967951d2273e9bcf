/** Records a second, from how far a consumer was at earlier looks. */
export interface LagRate {
  sample(dealtWith: number): number;
}

const SAMPLE_MS = 2000;

/** For consumers in other processes: measured between the looks of whoever watches, at least 2 s apart. */
export function createLagRate(clock: () => number): LagRate {
  let from: { readonly at: number; readonly dealtWith: number } | undefined;
  let rate = 0;
  return {
    sample(dealtWith) {
      const at = clock();
      if (from === undefined) from = { at, dealtWith };
      if (at - from.at >= SAMPLE_MS) {
        rate = Math.max(0, Math.round(((dealtWith - from.dealtWith) * 10_000) / (at - from.at)) / 10);
        from = { at, dealtWith };
      }
      return rate;
    },
  };
}
