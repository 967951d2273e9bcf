/** Limits the number of exports that run at the same time. */
export interface ExportSlots {
  /** Takes a slot. Returns false if no slot is free. */
  take(): boolean;
  release(): void;
}

export function createExportSlots(max: number): ExportSlots {
  let taken = 0;
  return {
    take() {
      if (taken >= max) return false;
      taken += 1;
      return true;
    },
    release() {
      taken -= 1;
    },
  };
}
