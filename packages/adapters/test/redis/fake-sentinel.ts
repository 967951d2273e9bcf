import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface FakeSentinel {
  readonly port: number;
  /** From this call until `releaseAnswers`, requests for the address of the master get no answer. */
  holdAnswers(): void;
  /** Resolves when a request for the address of the master waits for its answer. */
  asked(): Promise<void>;
  /** Announces a new master. Resolves when the subscriber closes its connection, which shows that it has processed the message. */
  announceMaster(): Promise<void>;
  releaseAnswers(): void;
  stop(): void;
}

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
const array = (...items: readonly string[]) => `*${items.length}\r\n${items.join('')}`;

/** Starts a server that answers the requests which ioredis sends to a Sentinel. The test decides when the server answers. */
export async function startFakeSentinel(masterPort: number): Promise<FakeSentinel> {
  const sockets = new Set<Socket>();
  const subscribers = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let holding = false;
  let onAsked = (): void => undefined;

  function answer(socket: Socket, [command = '', subcommand = '']: readonly string[]): void {
    if (command === 'hello') {
      socket.write('-NOPROTO unsupported protocol version\r\n');
    } else if (command === 'subscribe') {
      subscribers.add(socket);
      socket.write(array(bulk('subscribe'), bulk(subcommand), ':1\r\n'));
    } else if (command !== 'sentinel') {
      socket.write('+OK\r\n');
    } else if (subcommand !== 'get-master-addr-by-name') {
      socket.write(array());
    } else {
      waiting.push(() => socket.write(array(bulk('127.0.0.1'), bulk(`${masterPort}`))));
      if (holding) onAsked();
      else release();
    }
  }
  function release(): void {
    holding = false;
    for (const send of waiting.splice(0)) send();
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      subscribers.delete(socket);
    });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
      for (let command = takeCommand(received); command !== undefined; command = takeCommand(received)) {
        received = command.rest;
        answer(socket, command.words);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    holdAnswers() {
      holding = true;
    },
    asked: () =>
      new Promise((resolve) => {
        onAsked = resolve;
        if (waiting.length > 0) resolve();
      }),
    async announceMaster() {
      const [subscriber] = subscribers;
      if (subscriber === undefined) throw new Error('no client has subscribed to the fake Sentinel');
      const closed = once(subscriber, 'close');
      subscriber.write(array(bulk('message'), bulk('+switch-master'), bulk('main 127.0.0.1 1 127.0.0.1 2')));
      await closed;
    },
    releaseAnswers: release,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Parses the first command, an array of bulk strings, into words in lower case. Returns `undefined` if the command is incomplete. */
function takeCommand(received: string): { words: readonly string[]; rest: string } | undefined {
  const lines = received.split('\r\n');
  const count = 1 + 2 * Number(lines[0]?.slice(1));
  if (!(lines.length > count)) return undefined;
  const words = lines.slice(1, count).filter((_, index) => index % 2 === 1);
  return { words: words.map((word) => word.toLowerCase()), rest: lines.slice(count).join('\r\n') };
}
