import kafkajs, { type Broker, type Cluster, type DescribeConfigResponse, type Kafka } from 'kafkajs';

/**
 * Everything of kafkajs 2.2.4 that is not part of its published types. No other file uses a private member, and
 * kafkajs-private.test.ts fails when a new version of kafkajs changes one of them.
 *
 *     member                                        why it is used
 *     --------------------------------------------  ----------------------------------------------------------------
 *     Cluster, passed to partition assigners        the only way to send a request to a certain broker
 *     cluster.brokerPool.createBroker               kafkajs rejects all metadata when one partition has no leader
 *     brokerPool.connectionPoolBuilder, rootLogger  a broker that shares no connection with others can be replaced alone
 *     broker.connectionPool.isConnected             broker.isConnected is also false if only the SASL session ends soon
 *     brokerPool.brokers, findBroker                if the SASL session ends soon, kafkajs connects to a broker at random
 *     brokerPool.metadata                           the addresses of the brokers, the controller and the leaders
 *     brokerPool.findConnectedBroker,               kafkajs asks a broker at random for the coordinator of a group, also one that
 *     broker.findGroupCoordinator                   cannot be reached
 *     broker.connectionPool.send                    kafkajs throws away a response in which one partition failed, and its
 *                                                   encoder copies each record six times
 *     broker.joinGroup, syncGroup, heartbeat,       the public consumer cannot commit under a given generation, and does
 *     leaveGroup                                    not report a lost partition before it has joined again
 *     broker.createTopics, describeConfigs,         the public admin client reads the metadata of every topic of the
 *     deleteRecords, listOffsets                    cluster, and fails when one of them has no leader
 *     connectionPool.pool, requestQueue             on each idle connection, kafkajs runs a timer every millisecond
 *     broker.connectionPool.send, broker.versions   kafkajs does not know the version of the metadata request that has topic IDs
 *     AssignerProtocol, ConfigResourceTypes         published, listed here because the requests above need them
 */
export const { AssignerProtocol, ConfigResourceTypes } = kafkajs;

/** The functions of a broker that coordinates a consumer group. */
export interface GroupBroker extends Broker {
  joinGroup(request: object): Promise<{
    readonly generationId: number;
    readonly leaderId: string;
    readonly memberId: string;
    readonly members: readonly { readonly memberId: string }[];
  }>;
  syncGroup(request: object): Promise<{ readonly memberAssignment: Buffer }>;
  heartbeat(request: object): Promise<unknown>;
  leaveGroup(request: object): Promise<unknown>;
  findGroupCoordinator(request: object): Promise<{ readonly coordinator: BrokerPlace }>;
}

/** The functions of a broker that manage topics and records. */
export interface AdminBroker extends Broker {
  createTopics(request: { readonly topics: readonly object[] }): Promise<unknown>;
  describeConfigs(request: { readonly resources: readonly object[] }): Promise<DescribeConfigResponse>;
  /** Deletes records of partitions. The broker must be their leader. */
  deleteRecords(request: { readonly topics: readonly object[] }): Promise<unknown>;
  /**
   * Returns offsets of partitions. The broker must be their leader. `replicaId` is the node ID of the replica that sends the request. Without it, the
   * broker treats the request as that of a consumer.
   */
  listOffsets(request: { readonly topics: readonly object[]; readonly replicaId?: number }): Promise<{
    readonly responses: readonly {
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[];
  }>;
}

/** Finds the coordinator of a group through a connected broker. kafkajs would ask a broker at random, and fail if that broker cannot be reached. */
export async function coordinatorPlace(cluster: Cluster, groupId: string): Promise<BrokerPlace> {
  const connected = await brokerPoolOf(cluster).findConnectedBroker();
  return (await connected.findGroupCoordinator({ groupId, coordinatorType: 0 })).coordinator;
}

/** Returns the coordinator of a group. Disconnecting `cluster` closes the connection to it. */
export async function findCoordinator(cluster: Cluster, groupId: string): Promise<GroupBroker> {
  const { nodeId } = await coordinatorPlace(cluster, groupId);
  return (await cluster.findBroker({ nodeId: String(nodeId) })) as GroupBroker;
}

export async function findController(cluster: Cluster): Promise<AdminBroker> {
  return (await cluster.findControllerBroker()) as AdminBroker;
}

export interface ClusterOptions {
  /** If true, the metadata omit topics that do not exist. If false, such a topic makes the metadata request fail. */
  readonly mayLackTopics: boolean;
}

/**
 * Returns a cluster object that is not connected yet. kafkajs passes this object only to partition assigners. So this function creates a
 * consumer that never runs. The metadata of the cluster include partitions without a leader: their `leader` is negative.
 */
export function createCluster(kafka: Kafka, { mayLackTopics }: ClusterOptions): Cluster {
  let found: Cluster | undefined;
  kafka.consumer({
    groupId: 'never-joined',
    allowAutoTopicCreation: false,
    partitionAssigners: [
      ({ cluster }) => {
        found = cluster;
        return {
          name: 'none',
          version: 0,
          assign: async () => [],
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  if (found === undefined) throw new TypeError('kafkajs no longer passes its cluster to partition assigners');
  acceptPartitionErrors(found, mayLackTopics);
  useOpenConnections(found);
  stopIdleTimers(found);
  return found;
}

/** The ID and the address of a broker, as the metadata of the cluster contain them. */
export interface BrokerPlace {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

/** The metadata of a cluster at one time. kafkajs replaces the object at each refresh, and does not change it. */
export interface ClusterMetadata {
  readonly brokers: readonly BrokerPlace[];
  readonly controllerId: number;
  readonly topicMetadata: readonly {
    readonly topic: string;
    readonly partitionMetadata: readonly { readonly partitionId: number; readonly leader: number }[];
  }[];
}

interface BrokerPool {
  readonly brokers: Readonly<Record<string, Broker>>;
  findBroker(place: { readonly nodeId: string }): Promise<GroupBroker>;
  findConnectedBroker(): Promise<GroupBroker>;
  createBroker(options: object): Broker;
  readonly connectionPoolBuilder: { build(place: object): Promise<{ readonly pool: readonly Connection[] }> };
  readonly rootLogger: object;
  readonly metadata: ClusterMetadata | null;
}

interface Connection {
  readonly requestQueue: { readonly pending: readonly object[]; scheduleCheckPendingRequests(): void };
}

const brokerPoolOf = (cluster: Cluster): BrokerPool =>
  (cluster as unknown as { readonly brokerPool: BrokerPool }).brokerPool;

/** The last metadata; `undefined` if the cluster is not connected. */
export function metadataOf(cluster: Cluster): ClusterMetadata | undefined {
  return brokerPoolOf(cluster).metadata ?? undefined;
}

/** The brokers according to the last metadata. */
export function brokerPlaces(cluster: Cluster): readonly BrokerPlace[] {
  return metadataOf(cluster)?.brokers ?? [];
}

/** The controller according to the last metadata; `undefined` if the metadata do not contain it. */
export function controllerPlace(cluster: Cluster): BrokerPlace | undefined {
  const controllerId = metadataOf(cluster)?.controllerId;
  return brokerPlaces(cluster).find(({ nodeId }) => nodeId === controllerId);
}

/** Returns a broker that is not connected yet and shares no connection with any other object. */
export async function createBroker(kafka: Kafka, { nodeId, host, port }: BrokerPlace): Promise<Broker> {
  const pool = brokerPoolOf(createCluster(kafka, { mayLackTopics: false }));
  const connectionPool = await pool.connectionPoolBuilder.build({ host, port });
  return pool.createBroker({ logger: pool.rootLogger, connectionPool, nodeId });
}

/**
 * Makes `findConnectedBroker` prefer a broker with an open connection. If the SASL session of this connection ends soon, kafkajs authenticates
 * again.
 */
function useOpenConnections(cluster: Cluster): void {
  const pool = brokerPoolOf(cluster);
  const findConnectedBroker = pool.findConnectedBroker.bind(pool);
  pool.findConnectedBroker = () => {
    const nodeId = Object.keys(pool.brokers).find((one) => hasConnection(pool.brokers[one]!));
    return nodeId === undefined ? findConnectedBroker() : pool.findBroker({ nodeId });
  };
}

/**
 * Without this change, each connection checks every millisecond whether a request waits, from its first response on. That took 5 % of a core. With
 * it, a connection checks only while a request waits: `push` of kafkajs starts the timer.
 */
function stopIdleTimers(cluster: Cluster): void {
  const { connectionPoolBuilder } = brokerPoolOf(cluster);
  const build = connectionPoolBuilder.build.bind(connectionPoolBuilder);
  connectionPoolBuilder.build = async (place) => {
    const built = await build(place);
    for (const { requestQueue } of built.pool) {
      const schedule = requestQueue.scheduleCheckPendingRequests.bind(requestQueue);
      requestQueue.scheduleCheckPendingRequests = () => {
        if (requestQueue.pending.length > 0) schedule();
      };
    }
    return built;
  };
}

interface Metadata {
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[];
  }[];
}

const UNKNOWN_TOPIC_OR_PARTITION = 3;

/** Removes the error codes of single partitions from each metadata response. With them, kafkajs would reject the whole response. */
function acceptPartitionErrors(cluster: Cluster, mayLackTopics: boolean): void {
  const brokerPool = brokerPoolOf(cluster);
  const { createBroker } = brokerPool;
  const withoutErrors = (data: Metadata): Metadata => ({
    ...data,
    topicMetadata: data.topicMetadata
      .filter(({ topicErrorCode }) => !mayLackTopics || topicErrorCode !== UNKNOWN_TOPIC_OR_PARTITION)
      .map((topic) => ({
        ...topic,
        partitionMetadata: topic.partitionMetadata.map((partition) => ({ ...partition, partitionErrorCode: 0 })),
      })),
  });
  brokerPool.createBroker = (options) => {
    const broker = createBroker(options);
    const { metadata } = broker;
    const lenient = withResponseReader(broker, (data, parse) => parse(withoutErrors(data as Metadata)));
    broker.metadata = (topics) => metadata.call(lenient, topics);
    return broker;
  };
}

/** Whether a connection to the broker is open. Also true if this process must authenticate again. */
export function hasConnection(broker: Broker): boolean {
  return (broker as unknown as { readonly connectionPool: ConnectionPool }).connectionPool.isConnected();
}

type Parse = (data: unknown) => Promise<unknown>;
interface ConnectionPool {
  isConnected(): boolean;
  send(request: {
    readonly request: object;
    readonly response: { readonly parse: Parse; readonly decode?: (answer: Buffer) => Promise<object> };
  }): Promise<unknown>;
}

export function supportsVersion(broker: Broker, apiKey: number, version: number): boolean {
  const { versions } = broker as unknown as { readonly versions: Readonly<Record<number, { maxVersion: number }>> };
  return (versions[apiKey]?.maxVersion ?? 0) >= version;
}

/**
 * Sends a request that kafkajs does not know. `payload` contains everything after the client ID of the header. Resolves with everything after the
 * correlation ID of the answer.
 */
export async function sendRequest(
  broker: Broker,
  apiKey: number,
  apiVersion: number,
  payload: Buffer,
): Promise<Buffer> {
  const { connectionPool } = broker as unknown as { readonly connectionPool: ConnectionPool };
  const encode = async () => ({ buf: payload, buffer: payload });
  const decode = async (answer: Buffer) => ({ answer });
  const sent = connectionPool.send({
    request: { apiKey, apiVersion, apiName: `request ${apiKey}`, encode },
    response: { decode, parse: async (data) => data },
  });
  return ((await sent) as { readonly answer: Buffer }).answer;
}

/**
 * Returns the same broker with one difference: it returns a response in which some partitions failed, instead of an error. So the results of
 * the other partitions are not lost. If `payload` is given, it replaces the request body that kafkajs would encode.
 */
export function withPartitionErrors(broker: Broker, payload?: Buffer): Broker {
  return withResponseReader(broker, async (data) => data, payload);
}

/**
 * Returns the same broker with one difference: kafkajs calls `read` instead of its own `parse` for each decoded response. `read` also receives
 * this `parse`, which throws if the response contains an error code.
 */
function withResponseReader(
  broker: Broker,
  read: (data: unknown, parse: Parse) => Promise<unknown>,
  payload?: Buffer,
): Broker {
  const pool = (broker as unknown as { readonly connectionPool: ConnectionPool }).connectionPool;
  const body = payload === undefined ? {} : { encode: async () => ({ buf: payload, buffer: payload }) };
  const reading = Object.create(pool) as ConnectionPool;
  reading.send = ({ request, response, ...rest }) =>
    pool.send({
      ...rest,
      request: { ...request, ...body },
      response: { ...response, parse: (data) => read(data, response.parse) },
    });
  return Object.create(broker, { connectionPool: { value: reading } }) as Broker;
}
