import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import type { Commit } from '@weir/ports/event-log';
import { AssignerProtocol, type Broker, type Cluster } from 'kafkajs';
import { brokerErrorType, eventLogUnavailable, rootCause } from './kafka-errors.ts';
import type { KafkaLink } from './kafka-link.ts';

/** A member that is silent for longer loses its partitions; the least that a stock broker allows. */
const SESSION_TIMEOUT_MS = 6000;
/** How long the others wait for a member that closes its partitions. */
const REBALANCE_TIMEOUT_MS = 60_000;
const HEARTBEAT_PAUSE_MS = 500;
const RETRY_PAUSE_MS = 200;
const COMMIT_DEADLINE_MS = 5000;
const PROTOCOL = 'weir-round-robin';

/** What one round of the group's balancing gave this member. Commits carry its generation, so a later one refuses them. */
export interface Session {
  readonly generationId: number;
  readonly memberId: string;
  readonly partitions: readonly number[];
}

export interface GroupMemberOptions {
  readonly link: KafkaLink;
  readonly topic: string;
  readonly groupId: string;
  /** Resolves when work on the partitions has begun; a rejection is told to `onError`, and the group is joined again. */
  assigned(session: Session): Promise<void>;
  /** Resolves when no work on any partition goes on. Heartbeats continue meanwhile. */
  revoked(): Promise<void>;
  onError(error: unknown): void;
}

export interface GroupMember {
  committed(partitions: readonly number[]): Promise<ReadonlyMap<number, Commit | undefined>>;
  commit(session: Session, partition: number, commit: Commit): Promise<void>;
  /** This member has its share of the partitions, and the broker has heard of it within the session's time. */
  joined(): boolean;
  /** Gives the partitions back and leaves the group. */
  close(): Promise<void>;
}

/** What kafkajs's broker can do beyond its published type. */
interface GroupBroker extends Broker {
  joinGroup(request: object): Promise<{
    readonly generationId: number;
    readonly leaderId: string;
    readonly memberId: string;
    readonly members: readonly { readonly memberId: string }[];
  }>;
  syncGroup(request: object): Promise<{ readonly memberAssignment: Buffer }>;
  heartbeat(request: object): Promise<unknown>;
  leaveGroup(request: object): Promise<unknown>;
}

/** The broker says: you are not, or no longer, a member of this generation. */
const LOST = new Set(['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID', 'REBALANCE_IN_PROGRESS']);

/** kafkajs's own consumer can't commit under a given generation and says nothing before it rejoins; its broker can do both. */
export function joinKafkaGroup(options: GroupMemberOptions): GroupMember {
  const { link, topic, groupId } = options;
  const closing = new AbortController();
  const coordinators = new WeakMap<Cluster, Promise<Broker>>();
  let memberId = '';
  /** `performance.now()` of the broker's last word on the present session. */
  let heardAt: number | undefined;
  let leaveJoin: () => void = () => undefined;

  /** The broker that keeps the group, found again when it says that it no longer does. */
  function withCoordinator<T>(work: (broker: GroupBroker) => Promise<T>, patienceMs = 0): Promise<T> {
    return link.run(async (cluster) => {
      const found = coordinators.get(cluster) ?? cluster.findGroupCoordinator({ groupId });
      coordinators.set(cluster, found);
      try {
        return await work((await found) as GroupBroker);
      } catch (error) {
        if (!LOST.has(brokerErrorType(error) ?? '')) coordinators.delete(cluster);
        throw error;
      }
    }, patienceMs);
  }

  async function join(): Promise<Session> {
    const metadata = AssignerProtocol.MemberMetadata.encode({ version: 0, topics: [topic], userData: Buffer.alloc(0) });
    const partitionCount = await link.run(async (cluster) => cluster.findTopicPartitionMetadata(topic).length);
    return withCoordinator(async (broker) => {
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
    }, REBALANCE_TIMEOUT_MS);
  }

  /**
   * A join takes as long as the slowest member gives back; who closes does not wait for that, if the group knows it by name.
   * The join under way keeps its connection busy: leaving it gives that up, and the group is told over another.
   */
  function unlessLeft<T>(joining: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      leaveJoin = () => reject(new Error('closing'));
      if (closing.signal.aborted) leaveJoin();
      joining.then(resolve, reject);
    });
  }

  /** Resolves with the reason why the session is over. Keeps the membership alive through a broker's absence. */
  async function keepAlive(session: Session, until: AbortSignal): Promise<string> {
    while (!until.aborted) {
      try {
        await withCoordinator((broker) =>
          broker.heartbeat({ groupId, groupGenerationId: session.generationId, memberId: session.memberId }),
        );
        if (heardAt !== undefined) heardAt = performance.now();
      } catch (error) {
        const type = brokerErrorType(error) ?? '';
        if (LOST.has(type)) return type;
        options.onError(eventLogUnavailable(`no heartbeat in group ${groupId}`, error));
      }
      await pause(HEARTBEAT_PAUSE_MS, undefined, { signal: until }).catch(() => undefined);
    }
    return 'closing';
  }

  /** Heartbeats while the partitions are given back: the broker would call a silent member dead. */
  async function giveBack(session: Session): Promise<void> {
    heardAt = undefined;
    const given = new AbortController();
    const beating = beatUntil(session, given.signal);
    await options.revoked();
    given.abort();
    await beating;
  }

  async function beatUntil(session: Session, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const reason = await keepAlive(session, until);
      if (reason === 'UNKNOWN_MEMBER_ID' || reason === 'ILLEGAL_GENERATION') return;
      await pause(HEARTBEAT_PAUSE_MS, undefined, { signal: until }).catch(() => undefined);
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
          await giveBack(session);
        }
      } catch (error) {
        const type = brokerErrorType(error);
        if (type === 'UNKNOWN_MEMBER_ID') memberId = '';
        if (type === 'REBALANCE_IN_PROGRESS' || closing.signal.aborted) continue;
        options.onError(eventLogUnavailable(`could not join group ${groupId}`, error));
        await pause(RETRY_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    // Without it the others would wait for the session to time out; when the broker is away they have to.
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
          if (performance.now() > giveUpAt) throw eventLogUnavailable(`no commit in ${topic}/${partition}`, error);
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

function toCommit({ partition, offset, metadata }: { partition: number; offset: string; metadata?: string | null }) {
  return [partition, Number(offset) < 0 ? undefined : { offset: Number(offset), metadata: metadata ?? '' }] as const;
}

/** Partition p belongs to member p modulo members: no member has two more than another. */
function assignRoundRobin(topic: string, partitionCount: number, members: readonly string[]) {
  return members.map((memberId, index) => {
    const partitions = [];
    for (let p = index; p < partitionCount; p += members.length) partitions.push(p);
    const assignment = { version: 0, assignment: { [topic]: partitions }, userData: Buffer.alloc(0) };
    return { memberId, memberAssignment: AssignerProtocol.MemberAssignment.encode(assignment) };
  });
}
