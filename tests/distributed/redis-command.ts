import { connect } from 'node:net';

/** Sends one command in Redis's inline format. Resolves with the unparsed answer. */
export function redisCommand(url: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(`${command}\r\n`));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString());
    });
  });
}
