import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { acceptCollectHit, acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import type { JsonObject } from '@weir/domain/json/json';

// The baseline for the gateway. Like the gateway, it parses the bodies, validates them with the same functions, and sends the same answers. Unlike
// the gateway, it has no framework, API keys, rate limits or event log.

const ACCEPTED = JSON.stringify({ status: 'success', data: { accepted: true } });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()));
});

function answer(request: IncomingMessage, response: ServerResponse, text: string): void {
  const body = JSON.parse(text) as JsonObject;
  const isCollect = request.url === '/api/collect';
  const checked = isCollect ? acceptCollectHit(body, () => text) : acceptServerEvent(body, () => text);
  if (checked instanceof FieldError) response.writeHead(400).end();
  else if (isCollect) response.writeHead(204).end();
  else {
    response.writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': ACCEPTED.length });
    response.end(ACCEPTED);
  }
}

server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));
