import { once } from 'node:events';
import { openSocket } from '@weir/testkit/http-client';

/**
 * Writes each piece separately. When the connection is closed, resolves with the statuses of all answers. `ends`: the client closes its side
 * after the last piece. The server (Node) then drops answers that are not ready.
 */
export async function exchange(url: string, pieces: readonly Buffer[], ends: boolean): Promise<readonly number[]> {
  const socket = openSocket(url);
  let answered = '';
  socket.on('data', (chunk: Buffer) => {
    answered += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.setNoDelay(true);
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    await new Promise(setImmediate);
  }
  if (ends) socket.end();
  await closed;
  return [...answered.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Cuts the bytes at these places. */
export const cut = (bytes: Buffer, at: readonly number[]): Buffer[] => {
  const points = [...new Set(at.map((one) => one % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...points].map((from, index) => bytes.subarray(from, points[index] ?? bytes.length));
};

/** Returns the bytes of a request to an ingestion endpoint. `isLast`: the request asks the server to close the connection after the answer. */
export function requestBytes([path, json, chunked]: [string, string, boolean], key: string, isLast: boolean): Buffer {
  const body = Buffer.from(json);
  const head = `POST ${path} HTTP/1.1\r\nHost: w\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\n${isLast ? 'Connection: close\r\n' : ''}`;
  if (!chunked) return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
  const half = body.length >> 1;
  const parts = [body.subarray(0, half), body.subarray(half)].filter((part) => part.length > 0);
  const chunks = parts.flatMap((part) => [
    Buffer.from(`${part.length.toString(16)};x=y\r\n`),
    part,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`), ...chunks, Buffer.from('0\r\n\r\n')]);
}
