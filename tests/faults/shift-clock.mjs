// Moves the clock of a process by CLOCK_SHIFT_MS milliseconds. A test loads it into Weir with `node --import`, to store events of earlier days.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + shiftMs] : given));
  }
  static now() {
    return RealDate.now() + shiftMs;
  }
};
