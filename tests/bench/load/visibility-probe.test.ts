import { eventually } from '@weir/testkit/eventually';
import { type ProbeTask, probeVisibility } from './visibility-probe.ts';

/** A Weir that shows a pageview after `queriesUntilVisible` queries for it. */
function fakeWeir(queriesUntilVisible: number, status = 204) {
  const asked = new Map<string, number>();
  const client = {
    async collect(body: unknown) {
      asked.set(new URL((body as { url: string }).url).pathname, 0);
      return { status, headers: {}, text: 'the answer', json: undefined };
    },
    async number(_query: string, params?: object) {
      const { path } = params as { path: string };
      const count = (asked.get(path) ?? Number.NaN) + 1;
      asked.set(path, count);
      return count >= queriesUntilVisible ? 1 : 0;
    },
  };
  return { client: client as unknown as ProbeTask['client'], asked };
}

function started(client: ProbeTask['client'], list: () => number[]) {
  const stop = new AbortController();
  const task = { client, siteId: 'demo', everyMs: 1, pollMs: 1, list, stop: stop.signal };
  return { sent: probeVisibility(task), stop };
}

describe('probeVisibility', () => {
  test('asks for each pageview until it is visible, and measures each once', async () => {
    const { client, asked } = fakeWeir(3);
    const times: number[] = [];
    const { sent, stop } = started(client, () => times);
    await eventually('five times', () => times.length >= 5);
    stop.abort();
    expect(await sent).toBe(asked.size);
    expect(times).toHaveLength(asked.size);
    expect([...asked.values()]).toEqual(times.map(() => 3));
  });

  test('sends the next pageviews while an earlier one is not visible, but not without a limit', async () => {
    const { client, asked } = fakeWeir(Number.POSITIVE_INFINITY);
    const { sent, stop } = started(client, () => []);
    await expect(sent).rejects.toThrow('100 pageviews are not visible yet');
    expect(asked.size).toBe(100);
    stop.abort();
  });

  test('a time belongs to the list of the moment of its answer, not of the moment when it is visible', async () => {
    const { client, asked } = fakeWeir(3);
    const queriesBefore: number[] = [];
    const lists: number[][] = [];
    const { sent, stop } = started(client, () => {
      const list: number[] = [];
      lists.push(list);
      queriesBefore.push([...asked.values()].at(-1) ?? Number.NaN);
      return list;
    });
    await eventually('five lists', () => lists.length >= 5);
    stop.abort();
    await sent;
    expect(lists.map((list) => list.length)).toEqual(lists.map(() => 1));
    // The pageview that was answered last has not been queried yet.
    expect(queriesBefore).toEqual(lists.map(() => 0));
  });

  test('another status than 204 ends the measurement', async () => {
    const { client } = fakeWeir(1, 503);
    await expect(started(client, () => []).sent).rejects.toThrow('a pageview was answered with 503 the answer');
  });
});
