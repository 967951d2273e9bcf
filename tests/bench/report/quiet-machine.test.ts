import { untilQuiet } from './quiet-machine.ts';

/** Makes a simulated machine. Each call of `load` returns the next of these loads; after the last one, always the last one. */
function machineWith(...loads: number[]) {
  const waits: number[] = [];
  let read = 0;
  const load = () => loads[Math.min(read++, loads.length - 1)] ?? 0;
  return { waits, load, wait: async (seconds: number) => void waits.push(seconds) };
}

describe('untilQuiet', () => {
  test('does not wait if the machine is quiet', async () => {
    const machine = machineWith(0.2);
    expect(await untilQuiet(60, machine)).toBe('the machine was quiet (load 0.20) after a wait of 0 s');
    expect(machine.waits).toEqual([]);
  });

  test('waits until the load is below 0.5', async () => {
    const machine = machineWith(3, 1, 0.5, 0.4);
    expect(await untilQuiet(60, machine)).toBe('the machine was quiet (load 0.40) after a wait of 15 s');
  });

  test('waits no longer than its limit, and says what it saw', async () => {
    const machine = machineWith(7);
    expect(await untilQuiet(12, machine)).toBe(
      'the machine was not quiet after a wait of 12 s: its load was 7.00, at least 0.5',
    );
    expect(machine.waits).toEqual([5, 5, 2]);
  });

  test('a limit of 0 never waits', async () => {
    expect(await untilQuiet(0, machineWith(7))).toContain('not quiet after a wait of 0 s');
  });
});
