import { cpuMicrosIn } from '../programs/enriched-log.ts';
import { perEvent, threadsIn } from './thread-cpu.ts';

const START =
  'bench thread 10 main main\nWeir listens\nbench thread 12 worker pipeline-worker\nbench thread 15 main clickhouse-server\n';

test('the threads of the last start are found', () => {
  expect(threadsIn(START)).toEqual({ http: 10, pipeline: 12 });
  const restarted = `${START}bench thread 20 main main\nbench thread 22 worker pipeline-worker\n`;
  expect(threadsIn(restarted)).toEqual({ http: 20, pipeline: 22 });
});

test('without a pipeline thread, the error names it', () => {
  expect(() => threadsIn('bench thread 10 main main\n')).toThrow('worker pipeline-worker');
});

test('user and system time are read after a name with spaces and brackets', () => {
  expect(cpuMicrosIn('10 (a b) c) S 1 2 3 4 5 6 7 8 9 10 300 20 0 0')).toBe(3_200_000);
});

test('each part is divided by the events that it has processed', () => {
  const before = { cpu: { http: 100, pipeline: 50, rest: 10, clickhouse: 0 }, acknowledged: 10, written: 10 };
  const after = { cpu: { http: 300, pipeline: 90, rest: 20, clickhouse: 60 }, acknowledged: 20, written: 14 };
  expect(perEvent(before, after)).toEqual({ http: 20, pipeline: 10, rest: 1, clickhouse: 15 });
});
