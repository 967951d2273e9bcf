/** Runs `work`. Returns undefined at once if the maximum number of tasks is already running. */
export type RunInSlot = <T>(work: () => Promise<T>) => Promise<T> | undefined;

/** Runs `work` for a site. Returns undefined at once if the maximum number of tasks of this site, or of all sites, is already running. */
export type RunForSite = <T>(siteId: string, work: () => Promise<T>) => Promise<T> | undefined;

export function createSlots(max: number): RunInSlot {
  let running = 0;
  return (work) => {
    if (running >= max) return undefined;
    running += 1;
    return work().finally(() => {
      running -= 1;
    });
  };
}

export function createSiteSlots(max: number, perSiteMax: number): RunForSite {
  const runInSlot = createSlots(max);
  const running = new Map<string, number>();

  return (siteId, work) => {
    const ofSite = running.get(siteId) ?? 0;
    if (ofSite >= perSiteMax) return undefined;
    return runInSlot(() => {
      running.set(siteId, ofSite + 1);
      return work().finally(() => {
        const left = (running.get(siteId) ?? 1) - 1;
        if (left > 0) running.set(siteId, left);
        else running.delete(siteId);
      });
    });
  };
}
