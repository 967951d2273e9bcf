import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { linkThreads } from '@weir/runtime/thread-link';
import { eventually } from '@weir/testkit/eventually';
import type { PipelineCalls } from '../src/thread/pipeline-calls.ts';
import { requestsTo } from '../src/thread/pipeline-thread.ts';
import { answeredWithin, watchHeartbeat } from '../src/thread/thread-answers.ts';

let ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports) port.close();
  ports = [];
});

/** A link to a thread that receives messages but never answers. */
function linkToBlocked() {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  return linkThreads<PipelineCalls>(port1, {});
}

test('a thread that does not answer is not ready, and has no status, no metrics and no locations', async () => {
  const requests = requestsTo(linkToBlocked(), 20);
  expect(await requests.readiness()).toEqual({ missing: ['pipeline thread'], notes: [] });
  expect(await requests.status()).toEqual([]);
  expect(await requests.metrics()).toBeUndefined();
  const problem = 'the pipeline thread does not answer';
  expect(await requests.locate('192.0.2.1')).toEqual({ place: undefined, data: '', problem });
});

test('while an answer is late, no further call is sent; after it has arrived, calls are sent again', async () => {
  let calls = 0;
  let answer = (_n: number): void => undefined;
  const asked = answeredWithin(() => {
    calls += 1;
    return new Promise<number>((resolve) => {
      answer = resolve;
    });
  }, 20);
  expect(await asked()).toBeUndefined();
  expect(await asked()).toBeUndefined();
  expect(calls).toBe(1);
  answer(1);
  await Promise.resolve();
  const second = asked();
  expect(calls).toBe(2);
  answer(2);
  expect(await second).toBe(2);
});

test('a thread that never answers is reported once; one that answers is not', async () => {
  const link = linkToBlocked();
  const silent: Error[] = [];
  const errors: string[] = [];
  const logger = { error: (_fields: unknown, text: string) => errors.push(text) } as never;
  const said = { who: 'the pipeline thread', consequence: 'the process ends' };
  const onSilent = (error: Error): void => void silent.push(error);
  let pings = 0;
  const healthy: Error[] = [];
  const endHealthy = watchHeartbeat({
    ...{ ...said, everyMs: 1, missedMax: 3, logger, onSilent: (error) => healthy.push(error) },
    async ping() {
      pings += 1;
    },
  });
  const ping = () => link.call('ping', []);
  const end = watchHeartbeat({ ...said, ping, everyMs: 1, missedMax: 3, logger, onSilent });
  await eventually('the report', () => silent.length === 1 && pings > 20);
  end();
  endHealthy();
  expect(silent).toHaveLength(1);
  expect(silent[0]?.message).toContain('has not answered');
  expect(errors).toEqual(['the pipeline thread does not answer']);
  expect(healthy).toEqual([]);
});
