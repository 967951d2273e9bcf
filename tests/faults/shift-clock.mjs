// Loaded into Weir with `node --import`, so that a test can fill complete days: moves the clock by CLOCK_SHIFT_MS milliseconds.
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
