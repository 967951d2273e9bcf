import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import type { Commit } from '@weir/ports/event-log';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import type { Cluster } from 'kafkajs';
import type { KafkaTimeouts } from '../kafka-client.ts';
import { brokerErrorType, eventLogUnavailable, rootCause } from '../kafka-errors.ts';
import type { KafkaLink } from '../kafka-link.ts';
import { AssignerProtocol, findCoordinator, type GroupBroker } from '../kafkajs-private.ts';

/** The broker removes a member that sends no heartbeat for this long. With a broker's default settings, 6 s is the minimum. */
const SESSION_TIMEOUT_MS = 6000;
/** How long a rebalance waits for a member that is closing its partitions. */
const REBALANCE_TIMEOUT_MS = 60_000;
const HEARTBEAT_PAUSE_MS = 500;
const RETRY_PAUSE_MS = 200;
const COMMIT_DEADLINE_MS = 5000;
const PROTOCOL = 'weir-round-robin';

/** The result of one rebalance for this member. Commits contain its generation, so brokers refuse them after the next rebalance. */
export interface Session {
  readonly generationId: number;
  readonly memberId: string;
  readonly partitions: readonly number[];
}

/**
 * A heartbeat that gets no connection or no answer within these timeouts is repeated over a new connection. Two such heartbeats fit into the session
 * timeout.
 */
export const HEARTBEAT_TIMEOUTS: KafkaTimeouts = { connectionTimeoutMs: 1000, requestTimeoutMs: 2000 };

export interface GroupMemberOptions {
  readonly link: KafkaLink;
  /**
   * Connections only for heartbeats, with `HEARTBEAT_TIMEOUTS`. A broker answers the requests of one connection in their order, and a busy broker
   * can need seconds for a commit. On a shared connection, heartbeats would wait for it.
   */
  readonly heartbeatLink: KafkaLink;
  readonly topic: string;
  readonly groupId: string;
  /**
   * Called after a rebalance. Must resolve when work on the partitions has begun. If it rejects, this member calls `onError` and joins the group
   * again.
   */
  assigned(session: Session): Promise<void>;
  /** Called before this member joins again or leaves the group. Must resolve when the work on all partitions has ended. */
  revoked(): Promise<void>;
  onError(error: unknown): void;
}

export interface GroupMember {
  committed(partitions: readonly number[]): Promise<ReadonlyMap<number, Commit | undefined>>;
  commit(session: Session, partition: number, commit: Commit): Promise<void>;
  /** True if this member has received its assignment (which can be empty) and its last heartbeat is within the session timeout. */
  joined(): boolean;
  /**
   * Resolves when the work on the partitions has ended and the member has left the group. It also resolves if the member could not leave (`onError`
   * gets the error): the session of the member then times out.
   */
  close(): Promise<void>;
}

/** Broker errors which mean that the session is over: its generation ends or has ended, or this client is no longer a member. */
const LOST = new Set(['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID', 'REBALANCE_IN_PROGRESS']);

/** Joins a consumer group and stays a member until `close`. kafkajs-private.ts says why Weir does not use kafkajs's consumer. */
export function joinKafkaGroup(options: GroupMemberOptions): GroupMember {
  const { link, heartbeatLink, topic, groupId } = options;
  const closing = new AbortController();
  const coordinators = new WeakMap<Cluster, Promise<GroupBroker>>();
  let memberId = '';
  /** The time (`performance.now()`) of the last successful heartbeat. It is undefined while the member has no session. */
  let heardAt: number | undefined;
  let leaveJoin: () => void = () => undefined;

  /** Runs `work` with the coordinator of the group. After an error that is not in `LOST`, the next call finds the coordinator again. */
  function withCoordinator<T>(
    work: (broker: GroupBroker) => Promise<T>,
    { over = link, patienceMs = 0 }: { readonly over?: KafkaLink; readonly patienceMs?: number } = {},
  ): Promise<T> {
    return over.run(async (cluster) => {
      const found = coordinators.get(cluster) ?? findCoordinator(cluster, groupId);
      coordinators.set(cluster, found);
      try {
        return await work(await found);
      } catch (error) {
        if (!LOST.has(brokerErrorType(error) ?? '')) coordinators.delete(cluster);
        throw error;
      }
    }, patienceMs);
  }

  async function join(): Promise<Session> {
    const metadata = AssignerProtocol.MemberMetadata.encode({ version: 0, topics: [topic], userData: Buffer.alloc(0) });
    const partitionCount = await link.run(async (cluster) => cluster.findTopicPartitionMetadata(topic).length);
    return withCoordinator(
      async (broker) => {
        const joining = broker.joinGroup({
          groupId,
          memberId,
          sessionTimeout: SESSION_TIMEOUT_MS,
          rebalanceTimeout: REBALANCE_TIMEOUT_MS,
          groupProtocols: [{ name: PROTOCOL, metadata }],
        });
        const joined = await (memberId === '' ? joining : unlessLeft(joining));
        memberId = joined.memberId;
        const { generationId } = joined;
        const members = joined.members.map((member) => member.memberId).sort();
        const groupAssignment = joined.leaderId === memberId ? assignRoundRobin(topic, partitionCount, members) : [];
        const { memberAssignment } = await broker.syncGroup({ groupId, generationId, memberId, groupAssignment });
        const partitions = AssignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment[topic] ?? [];
        return { generationId, memberId, partitions };
      },
      { patienceMs: REBALANCE_TIMEOUT_MS },
    );
  }

  /**
   * Settles as `joining` does, but rejects when `close` is called. A join lasts until the slowest member has closed its partitions, and `close` must
   * not wait for that. After the rejection, this member leaves the group over a new connection. Call this function only if the member already has an
   * ID: without it, the member cannot leave.
   */
  function unlessLeft<T>(joining: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      leaveJoin = () => reject(new Error('closing'));
      if (closing.signal.aborted) leaveJoin();
      joining.then(resolve, reject);
    });
  }

  /** Sends heartbeats until the session is over. Resolves with the reason. Failures of a broker do not end the session. */
  async function keepAlive(session: Session, until: AbortSignal): Promise<string> {
    let failures = 0;
    while (!until.aborted) {
      try {
        await withCoordinator(
          (broker) =>
            broker.heartbeat({ groupId, groupGenerationId: session.generationId, memberId: session.memberId }),
          { over: heartbeatLink },
        );
        if (heardAt !== undefined) heardAt = performance.now();
        failures = 0;
      } catch (error) {
        const type = brokerErrorType(error) ?? '';
        if (LOST.has(type)) return type;
        options.onError(eventLogUnavailable(`cannot send a heartbeat in group ${groupId}`, error));
        failures += 1;
        // After a first failure, the next heartbeat is sent at once, because little of the session timeout is left.
        if (failures === 1) continue;
      }
      await pauseUnlessAborted(HEARTBEAT_PAUSE_MS, until);
    }
    return 'closing';
  }

  /** Closes the partitions. Sends heartbeats meanwhile: without them, the broker would remove this member from the group. */
  async function revoke(session: Session): Promise<void> {
    heardAt = undefined;
    const closed = new AbortController();
    const beating = beatUntil(session, closed.signal);
    await options.revoked();
    closed.abort();
    await beating;
  }

  async function beatUntil(session: Session, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const reason = await keepAlive(session, until);
      if (reason === 'UNKNOWN_MEMBER_ID' || reason === 'ILLEGAL_GENERATION') return;
      await pauseUnlessAborted(HEARTBEAT_PAUSE_MS, until);
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const session = await join();
        try {
          await options.assigned(session);
          heardAt = performance.now();
          const reason = await keepAlive(session, closing.signal);
          if (reason === 'UNKNOWN_MEMBER_ID') memberId = '';
        } finally {
          await revoke(session);
        }
      } catch (error) {
        const type = brokerErrorType(error);
        if (type === 'UNKNOWN_MEMBER_ID') memberId = '';
        if (type === 'REBALANCE_IN_PROGRESS' || closing.signal.aborted) continue;
        options.onError(eventLogUnavailable(`cannot join group ${groupId}`, error));
        await pauseUnlessAborted(RETRY_PAUSE_MS, closing.signal);
      }
    }
    // Without this request, the next rebalance would begin only when the session of this member times out.
    if (memberId !== '') {
      await withCoordinator((broker) => broker.leaveGroup({ groupId, memberId })).catch(options.onError);
    }
  }
  const done = run();

  return {
    async committed(partitions) {
      const { responses } = await withCoordinator((broker) =>
        broker.offsetFetch({
          groupId,
          topics: [{ topic, partitions: partitions.map((partition) => ({ partition, offset: '0' })) }],
        }),
      );
      return new Map(responses.flatMap((response) => response.partitions.map(toCommit)));
    },

    async commit(session, partition, { offset, metadata }) {
      const giveUpAt = performance.now() + COMMIT_DEADLINE_MS;
      const request = {
        groupId,
        groupGenerationId: session.generationId,
        memberId: session.memberId,
        topics: [{ topic, partitions: [{ partition, offset: String(offset), metadata }] }],
      };
      for (;;) {
        try {
          await withCoordinator((broker) => broker.offsetCommit(request));
          return;
        } catch (error) {
          if (LOST.has(brokerErrorType(error) ?? '')) {
            throw new DependencyError('partition_lost', `${topic}/${partition}: ${rootCause(error).message}`, {
              cause: error,
            });
          }
          if (performance.now() > giveUpAt) throw eventLogUnavailable(`cannot commit in ${topic}/${partition}`, error);
          await pause(RETRY_PAUSE_MS);
        }
      }
    },

    joined: () => heardAt !== undefined && performance.now() - heardAt < SESSION_TIMEOUT_MS,

    async close() {
      closing.abort();
      leaveJoin();
      await done;
    },
  };
}

/** Converts an answer of Kafka, which contains the offset -1 for a partition without a commit. */
export function toCommit({
  partition,
  offset,
  metadata,
}: {
  partition: number;
  offset: string;
  metadata?: string | null;
}) {
  return [partition, Number(offset) < 0 ? undefined : { offset: Number(offset), metadata: metadata ?? '' }] as const;
}

/** With n members, assigns partition p to the member with the number p modulo n. So the numbers of partitions of two members differ by at most 1. */
function assignRoundRobin(topic: string, partitionCount: number, members: readonly string[]) {
  return members.map((memberId, index) => {
    const partitions = [];
    for (let p = index; p < partitionCount; p += members.length) partitions.push(p);
    const assignment = { version: 0, assignment: { [topic]: partitions }, userData: Buffer.alloc(0) };
    return { memberId, memberAssignment: AssignerProtocol.MemberAssignment.encode(assignment) };
  });
}
