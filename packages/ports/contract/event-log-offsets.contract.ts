import { eventually } from '@weir/testkit/eventually';
import type { ConsumeContext } from './event-log-consume.contract.ts';
import { record, text } from './event-log-member.ts';

/** Tests of `offsetsAtTime` and `removeBefore`. Called within the suite of `event-log.contract.ts`. */
export function offsetsContract({ log, topic, append, member }: ConsumeContext): void {
  test('`offsetsAtTime` returns the first offset at or after a time, or the end offset', async () => {
    await append([{ ...record('0'), partition: 0 }]);
    const reader = await member(log());
    const [first] = await reader.has(0, 1);
    await eventually('the clock has moved on', () => Date.now() > first!.appendedAt + 5);
    await append([{ ...record('1'), partition: 0 }]);
    const [, second] = await reader.has(0, 2);
    const at = async (timeMs: number) => (await log().offsetsAtTime(topic(), timeMs))[0];
    expect(await at(0)).toBe(0);
    expect(await at(first!.appendedAt)).toBe(0);
    expect(await at(first!.appendedAt + 1)).toBe(1);
    expect(await at(second!.appendedAt)).toBe(1);
    expect(await at(second!.appendedAt + 3600_000)).toBe(2);
    expect((await log().offsetsAtTime(topic(), 0)).length).toBe(log().partitionCount);
  });

  test('`removeBefore` removes records below the offsets; the end stays, and later records are kept', async () => {
    for (let n = 0; n < 4; n++) await append([{ ...record(`${n}`), partition: 0 }]);
    await append([{ ...record('elsewhere'), partition: 1 }]);
    const offsets = (first: number) => Array.from({ length: log().partitionCount }, (_, n) => (n === 0 ? first : 0));
    await log().removeBefore(topic(), offsets(2));
    await log().removeBefore(topic(), offsets(0));
    const edges = async () => (await log().positions(topic(), 'group')).map(({ first, end }) => [first, end]);
    expect((await edges()).slice(0, 2)).toEqual([
      [2, 4],
      [0, 1],
    ]);
    expect((await log().read(topic(), 0, 0, 1024)).map(text)).toEqual(['2', '3']);
    await log().removeBefore(topic(), offsets(4));
    expect((await edges())[0]).toEqual([4, 4]);
    expect(await log().read(topic(), 0, 0, 1024)).toEqual([]);
    expect(await append([{ ...record('4'), partition: 0 }])).toMatchObject([{ partition: 0, offset: 4 }]);
    const reader = await member(log());
    expect((await reader.has(0, 1)).map(text)).toEqual(['4']);
  });
}
