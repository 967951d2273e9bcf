import { precisionText, repeatUntilSteady } from './steady-rounds.ts';

/** Measures comparisons with these ratios, one of each list per round. Resolves with the number of rounds, the report's text and the notes. */
async function measured(roundsMax: number, all: Readonly<Record<string, readonly number[]>>) {
  const notes: string[] = [];
  let done = 0;
  const comparisons = () => Object.entries(all).map(([name, ratios]) => ({ name, ratios: ratios.slice(0, done) }));
  const rounds = await repeatUntilSteady({
    roundsMax,
    async measure(round) {
      expect(round).toBe(done++);
      return 'some figures';
    },
    comparisons,
    note: (text) => void notes.push(text),
  });
  expect(rounds).toBe(done);
  return { rounds, notes, text: precisionText(rounds, comparisons()) };
}

/** Ratios that alternate between the mean and this share above it. */
const around = (mean: number, share: number): readonly number[] =>
  Array.from({ length: 100 }, (_, round) => mean * (round % 2 === 0 ? 1 : 1 + share));

describe('repeatUntilSteady', () => {
  test('ends after five rounds if all intervals are narrow', async () => {
    const { rounds, text } = await measured(40, { first: around(1.5, 0.01), second: around(0.2, 0.01) });
    expect(rounds).toBe(5);
    expect(text).toContain('The 95 % intervals of all ratios are within ± 5 %.');
  });

  test('continues until the interval of the last comparison is narrow', async () => {
    const { rounds, notes } = await measured(40, { narrow: around(1.5, 0.01), wide: around(1.5, 0.2) });
    const widths = notes.map((note) => Number(/± (\S+) %$/.exec(note)?.[1]));
    expect(rounds).toBeGreaterThan(5);
    expect(rounds).toBeLessThan(40);
    expect(widths.at(-1)).toBeLessThanOrEqual(5);
    expect(Math.min(...widths.slice(4, -1))).toBeGreaterThan(5);
  });

  test('ends after the maximum of rounds, and names the comparisons with wide intervals', async () => {
    const { rounds, text } = await measured(12, {
      narrow: around(1, 0.01),
      wide: around(1, 0.5),
      wider: around(1, 0.9),
    });
    expect(rounds).toBe(12);
    expect(text).toContain('After 12 rounds, the 95 % intervals of these ratios were not within ± 5 %: wide; wider.');
  });

  test('runs two rounds if it is limited to two, and claims no interval', async () => {
    const { rounds, notes, text } = await measured(2, { only: [1, 1] });
    expect(rounds).toBe(2);
    expect(notes).toEqual(['round 1: some figures; no interval yet', 'round 2: some figures; no interval yet']);
    expect(text).toContain('were not within ± 5 %: only.');
  });
});
