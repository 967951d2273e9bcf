import { nextSwap, pauseWriters, resumeWriters } from '../src/pause/pause-writers.ts';
import { usePauses } from './pause-harness.ts';

const opened = usePauses();
const { deps, start } = opened;

describe('an owner ends only its own pauses', () => {
  test('the end of an earlier pause, or of one that was never requested, leaves the present one', async () => {
    const writer = await start();
    const first = await nextSwap(deps());
    await pauseWriters(deps(), first);
    await resumeWriters(deps(), first);
    const second = await nextSwap(deps());
    await pauseWriters(deps(), second);
    await resumeWriters(deps(), first);
    await resumeWriters(deps('backup'), second + 1);
    expect(opened.registry.writersPause()).toMatchObject({ swap: second, owner: 'swap', over: false });
    await resumeWriters(deps(), second);
    expect(opened.registry.writersPause()).toMatchObject({ swap: second, over: true });
    await writer.close();
  });

  test('of a swap and a backup that take the same number, only the first gets the pause', async () => {
    const writer = await start();
    const swap = await nextSwap(deps());
    expect(await nextSwap(deps('backup'))).toBe(swap);
    expect(await pauseWriters(deps(), swap)).toMatchObject({ status: 'paused' });
    await expect(pauseWriters(deps('backup'), swap)).rejects.toThrow(RangeError);
    await expect(pauseWriters(deps('backup'), swap + 1)).rejects.toThrow(RangeError);
    await resumeWriters(deps('backup'), swap);
    expect(opened.registry.writersPause()).toMatchObject({ swap, owner: 'swap', over: false });
    await resumeWriters(deps(), swap);
    await writer.close();
  });

  test('of a swap and a backup that request the same number at the same moment, one is refused', async () => {
    const writer = await start();
    const swap = await nextSwap(deps());
    const owners = ['swap', 'backup'] as const;
    const results = await Promise.allSettled(owners.map((owner) => pauseWriters(deps(owner), swap)));
    const winners = owners.filter((_, nth) => results[nth]?.status === 'fulfilled');
    expect(winners).toEqual([opened.registry.writersPause()?.owner]);
    await resumeWriters(deps(winners[0]), swap);
    await writer.close();
  });
});
