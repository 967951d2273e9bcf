import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@weir/runtime/logger';
import type { KafkaCompression } from '../kafka-compression.ts';
import { nothingWasSent, rootCause } from '../kafka-errors.ts';
import type { KafkaLink, Leaders } from '../kafka-link.ts';
import type { BrokerPlace } from '../kafkajs-private.ts';
import { type AppendRun, createAppendRun, type KafkaRecord, type RunOutcome } from './append-run.ts';
import { produce } from './kafka-produce.ts';

/** The maximum size of all records that wait to be sent. */
const BUFFER_BYTES_MAX = 64 * 1024 * 1024;
/** The maximum size of a batch, as a part of `max.message.bytes`. */
const BATCH_PART = 15 / 16;
const REQUEST_BYTES_MAX = 32 * 1024 * 1024;
const RETRY_PAUSE_MS = 50;

/** Appends records. The outcomes have the same meaning as in `EventLog.append`. They are known about `deadlineMs` after the call at the latest. */
export interface KafkaAppender {
  append(topic: string, partition: number, records: readonly KafkaRecord[]): Promise<RunOutcome>;
  /** Resolves when no record waits and no request is in flight. */
  drain(): Promise<void>;
}

export interface KafkaAppenderDeps {
  readonly link: KafkaLink;
  readonly deadlineMs: number;
  /**
   * How long a leader waits for its followers. It must be shorter than the request timeout of `link`: otherwise the request times out before the
   * leader answers.
   */
  readonly replicationTimeoutMs: number;
  readonly compression: KafkaCompression;
  /** Returns `max.message.bytes` of a topic (infra/kafka/topics.json). The broker refuses larger batches. */
  readonly messageBytesMax: (topic: string) => number;
  readonly logger: Logger;
}

/**
 * Sends one request at a time to each leader. Records that arrive meanwhile are sent with the next request. So batches grow with the
 * load, and the records keep their order. When a broker hangs, only the outcome of the request in flight is unknown: the
 * records that wait for this broker are certainly not in the log.
 */
export function createKafkaAppender({
  link,
  deadlineMs,
  replicationTimeoutMs,
  compression,
  messageBytesMax,
  logger,
}: KafkaAppenderDeps): KafkaAppender {
  /**
   * The runs (records of one append call for one partition) that must be sent for the first time, or again because none of their records was
   * stored. The runs of one partition are in the order of arrival.
   */
  let waiting: AppendRun[] = [];
  let waitingBytes = 0;
  /**
   * The partitions (`topic/partition`) whose last batch the leader refused. Nothing is sent to them until the next `tick`. Otherwise each append
   * would send up to `REQUEST_BYTES_MAX` again to a broker that is no longer the leader.
   */
  const resting = new Set<string>();
  /** For each leader (node ID), the runs of its request. While `isSent` is false, none of their records can be in the log. */
  const underWay = new Map<number, { readonly runs: readonly AppendRun[]; isSent: boolean }>();
  let pumping = false;
  let pumpAgain = false;
  let ticking = false;
  let drained: (() => void)[] = [];

  const batchBytesMax = (topic: string): number => Math.floor(messageBytesMax(topic) * BATCH_PART);

  function append(topic: string, partition: number, records: readonly KafkaRecord[]): Promise<RunOutcome> {
    const { run, outcome } = createAppendRun(topic, partition, records, performance.now() + deadlineMs);
    const bytesMax = batchBytesMax(topic);
    if (run.bytes > bytesMax) run.settle(refused(`the records for one partition exceed ${bytesMax} bytes`));
    else if (waitingBytes + run.bytes > BUFFER_BYTES_MAX) run.settle(refused('the buffer of unsent records is full'));
    else {
      waiting.push(run);
      waitingBytes += run.bytes;
      schedule();
    }
    return outcome;
  }

  /** Runs `pump` once per turn of the event loop, so that the appends of one turn share a request. */
  function schedule(): void {
    tickLater();
    if (pumpAgain) return;
    pumpAgain = true;
    setImmediate(() => {
      pumpAgain = false;
      void pump();
    });
  }

  function tickLater(): void {
    if (ticking) return;
    ticking = true;
    setTimeout(tick, RETRY_PAUSE_MS);
  }

  /** Settles the runs whose deadline has passed, and tries to send the waiting runs. */
  function tick(): void {
    ticking = false;
    resting.clear();
    const now = performance.now();
    for (const { runs, isSent } of underWay.values()) {
      if (!isSent) unexpired(runs);
      else
        for (const run of runs)
          if (run.deadlineAt <= now) run.settle({ status: 'unknown', reason: 'the broker did not answer in time' });
    }
    waiting = unexpired(waiting);
    waitingBytes = waiting.reduce((sum, run) => sum + run.bytes, 0);
    if (waiting.length > 0 || underWay.size > 0) schedule();
    else finishDrain();
  }

  /** Refuses the runs whose deadline has passed. Returns the runs that are not settled. Call it only for runs that were not sent. */
  function unexpired(runs: readonly AppendRun[]): AppendRun[] {
    const now = performance.now();
    for (const run of runs) if (run.deadlineAt <= now) run.settle(refused('the broker could not be reached in time'));
    return runs.filter((run) => !run.settled);
  }

  async function pump(): Promise<void> {
    if (pumping || waiting.length === 0) return;
    pumping = true;
    try {
      for (const [leader, runs] of takeReady(await link.leaders())) void send(leader, runs);
    } catch (error) {
      logger.debug({ err: rootCause(error) }, 'no connection to Kafka for appends');
    } finally {
      pumping = false;
    }
  }

  /** Takes from `waiting` the runs for leaders without a running request, as many as one request may contain. Returns them by leader. */
  function takeReady(leaderOf: Leaders): Map<BrokerPlace, AppendRun[]> {
    const ready = new Map<BrokerPlace, AppendRun[]>();
    const bytes = new Map<BrokerPlace, number>();
    const full = new Set(resting);
    const left: AppendRun[] = [];
    const batchBytes = new Map<string, number>();
    // If the process was paused, this can run before `tick`. Runs whose deadline has passed must not be sent, because the caller may have given up.
    for (const run of unexpired(waiting)) {
      const leader = leaderOf(run.topic, run.partition);
      const id = idOf(run);
      if (leader === undefined) link.refreshLeaders();
      const batch = (batchBytes.get(id) ?? 0) + run.bytes;
      const request = (leader === undefined ? 0 : (bytes.get(leader) ?? 0)) + run.bytes;
      if (
        leader === undefined ||
        underWay.has(leader.nodeId) ||
        full.has(id) ||
        batch > batchBytesMax(run.topic) ||
        request > REQUEST_BYTES_MAX
      ) {
        full.add(id);
        left.push(run);
        continue;
      }
      batchBytes.set(id, batch);
      bytes.set(leader, request);
      const runs = ready.get(leader);
      if (runs === undefined) ready.set(leader, [run]);
      else runs.push(run);
    }
    waiting = left;
    waitingBytes = left.reduce((sum, run) => sum + run.bytes, 0);
    return ready;
  }

  async function send(leader: BrokerPlace, runs: readonly AppendRun[]): Promise<void> {
    const request = { runs, isSent: false };
    underWay.set(leader.nodeId, request);
    let again: readonly AppendRun[] = [];
    let abandoned = false;
    try {
      again = await link.runOn(leader, async (broker) => {
        // `abandoned` means that these runs were put back into `waiting`. If they were also sent here, they would be stored twice.
        if (abandoned) throw new Error('abandoned before anything was sent');
        const sent = unexpired(runs);
        if (sent.length === 0) return [];
        request.isSent = true;
        return produce(broker, sent, compression, replicationTimeoutMs);
      });
      for (const run of again) resting.add(idOf(run));
      if (again.length > 0 || runs.some(({ settled }) => settled === 'unknown')) link.refreshLeaders();
    } catch (error) {
      abandoned = true;
      link.refreshLeaders();
      if (!request.isSent || nothingWasSent(error)) {
        again = runs;
        request.isSent = false;
        // The leader stays in `underWay` during the pause. Otherwise each append would connect again to a broker that refuses connections.
        await pause(RETRY_PAUSE_MS);
      } else for (const run of runs) run.settle({ status: 'unknown', reason: rootCause(error).message });
    }
    underWay.delete(leader.nodeId);
    again = again.filter((run) => !run.settled);
    waiting = [...again, ...waiting];
    waitingBytes += again.reduce((sum, run) => sum + run.bytes, 0);
    if (waiting.length > 0) schedule();
    if (waiting.length === 0 && underWay.size === 0) finishDrain();
  }

  function finishDrain(): void {
    for (const done of drained) done();
    drained = [];
  }

  return {
    append,
    drain() {
      if (waiting.length === 0 && underWay.size === 0) return Promise.resolve();
      return new Promise((done) => drained.push(done));
    },
  };
}

const idOf = ({ topic, partition }: AppendRun) => `${topic}/${partition}`;
const refused = (reason: string) => ({ status: 'refused', reason }) as const;
