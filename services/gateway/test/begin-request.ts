import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Sends the head of a POST, and nothing of its body. Adds what the gateway answers to `answers`. The caller closes the connection. */
export async function beginRequest(
  port: number,
  path: string,
  headers: readonly string[],
  answers: string[],
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('data', (chunk: Buffer) => answers.push(chunk.toString()));
  await once(socket, 'connect');
  socket.write([`POST ${path} HTTP/1.1`, 'Host: weir', ...headers, '', ''].join('\r\n'));
  return socket;
}
