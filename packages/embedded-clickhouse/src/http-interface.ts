import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { runForClient } from './cancel-query.ts';
import { clickhouseError, toClickhouseError } from './clickhouse-error.ts';
import type { Engine } from './engine.ts';
import { planStatement } from './plan-statement.ts';
import { type QueryRequest, readQueryRequest } from './query-request.ts';
import { withBody } from './read-statement-body.ts';
import type { Slots } from './slots.ts';
import type { SpaceWatch } from './space-watch.ts';
import { statementEffect } from './statement-effect.ts';
import { streamAnswer } from './stream-answer.ts';
import type { TokenKeeper } from './tokens/keep-tokens.ts';

export interface HttpInterfaceDeps {
  /** Resolves when the engine is open; earlier requests wait for it. */
  readonly engine: Promise<Engine>;
  readonly space: Promise<SpaceWatch>;
  readonly tokens: Promise<TokenKeeper>;
  readonly isReady: () => boolean;
  readonly slots: Slots;
  /** The folder for named pipes. To stream an answer, the engine writes it into such a pipe. */
  readonly pipeFolder: string;
  /** The memory that all statements may use together. */
  readonly memoryBytes: number;
  readonly username: string;
  readonly password: string;
}

const BASE = 'http://127.0.0.1';
const gzipAsync = promisify<Uint8Array, Buffer>(gzip);

/** The parts of ClickHouse's HTTP interface that @clickhouse/client, curl and Grafana use. */
export function createHttpInterface(deps: HttpInterfaceDeps): Server {
  return createServer({ maxHeaderSize: 1024 * 1024, requestTimeout: 600_000, keepAliveTimeout: 30_000 }, (req, res) => {
    const target = req.url ?? '/';
    if (!URL.canParse(target, BASE)) {
      sendError(
        req,
        res,
        clickhouseError(36, 'BAD_ARGUMENTS', `The request target is not a valid URL: ${target}`, 400),
      );
      return;
    }
    const url = new URL(target, BASE);
    if (url.pathname === '/ping' || url.pathname === '/replicas_status') {
      res.writeHead(deps.isReady() ? 200 : 503, { 'Content-Type': 'text/html; charset=UTF-8' });
      res.end(deps.isReady() ? 'Ok.\n' : 'Starting.\n');
      return;
    }
    answer(deps, req, res, url).catch((error: unknown) => {
      if (!res.destroyed) sendError(req, res, error);
    });
  });
}

async function answer(deps: HttpInterfaceDeps, req: IncomingMessage, res: ServerResponse, url: URL): Promise<void> {
  if (url.pathname !== '/') {
    throw clickhouseError(404, 'NO_HANDLER', `There is no handle ${url.pathname}`, 404);
  }
  authenticate(deps, req, url.searchParams);
  const engine = await deps.engine;
  await withBody(req, async (body) => {
    const params = await withFormFields(url.searchParams, req, body);
    const request = readQueryRequest({
      method: req.method ?? 'GET',
      params: params.fields,
      headers: req.headers,
      newQueryId: randomUUID,
      memoryBytes: deps.memoryBytes,
    });
    res.setHeader('X-ClickHouse-Query-Id', request.queryId);
    const planned = planStatement(request.query, params.body, request.defaultFormat);
    const effect = statementEffect(planned, request);
    // Streams only if the client wants it and the statement changes nothing. A buffered answer can have the HTTP status of an error, and a change
    // is durable before its answer is sent.
    if (request.streamsAnswer && effect === 'reads') {
      setAnswerHeaders(res, request.defaultFormat);
      const call = { setup: request.setup, statement: planned.statement, format: request.defaultFormat };
      await deps.slots.run(() => streamAnswer(engine, call, deps.pipeFolder, res));
      return;
    }
    const startedAt = performance.now();
    const call = { setup: request.setup, ...planned };
    const run = () => (request.isReadOnly ? runForClient(engine, call, res) : engine.run(call));
    const [space, tokens] = await Promise.all([deps.space, deps.tokens]);
    const result = await deps.slots.run(() => tokens.run(effect, () => (planned.isInsert ? space.insert(run) : run())));
    requireShortAnswer(request, result.bytes.length);
    const elapsedNs = Math.round((performance.now() - startedAt) * 1e6);
    res.setHeader(
      'X-ClickHouse-Summary',
      JSON.stringify({
        read_rows: String(result.rowsRead),
        read_bytes: String(result.bytesRead),
        written_rows: String(result.rowsWritten),
        written_bytes: String(result.bytesWritten),
        total_rows_to_read: '0',
        result_rows: String(result.rowsRead),
        result_bytes: String(result.bytes.length),
        elapsed_ns: String(elapsedNs),
      }),
    );
    await sendResult(res, request, planned.format, result.bytes);
  });
}

/** Throws if the answer is too large. ClickHouse checks max_result_bytes too, but it counts a constant column of a result as one value. */
function requireShortAnswer({ answerBytesMax }: QueryRequest, bytes: number): void {
  if (answerBytesMax === 0 || bytes <= answerBytesMax) return;
  const message = `Limit for result exceeded, max bytes: ${answerBytesMax}, current bytes: ${bytes}`;
  throw clickhouseError(396, 'TOO_MANY_ROWS_OR_BYTES', message);
}

async function sendResult(
  res: ServerResponse,
  request: QueryRequest,
  format: string,
  bytes: Uint8Array,
): Promise<void> {
  setAnswerHeaders(res, format);
  if (request.gzipAnswer) res.setHeader('Content-Encoding', 'gzip');
  const body = request.gzipAnswer ? await gzipAsync(bytes) : bytes;
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

function setAnswerHeaders(res: ServerResponse, format: string): void {
  res.setHeader('X-ClickHouse-Format', format);
  res.setHeader('X-ClickHouse-Timezone', 'UTC');
  res.setHeader('Content-Type', contentType(format));
}

function sendError(req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const { code, status, message } = toClickhouseError(error);
  if (!req.complete) res.setHeader('Connection', 'close');
  if (status === 401) res.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse server HTTP API"');
  res.setHeader('X-ClickHouse-Exception-Code', code);
  res.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  res.writeHead(status);
  res.end(`${message}\n`);
}

function authenticate(deps: HttpInterfaceDeps, req: IncomingMessage, params: URLSearchParams): void {
  const basic = /^Basic\s+(\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
  const [user, ...rest] = basic === undefined ? [] : Buffer.from(basic, 'base64').toString().split(':');
  const username = header(req, 'x-clickhouse-user') ?? user ?? params.get('user');
  const password = header(req, 'x-clickhouse-key') ?? (basic ? rest.join(':') : undefined) ?? params.get('password');
  if (username === null && password === null) {
    throw clickhouseError(194, 'REQUIRED_PASSWORD', 'Authentication is required', 401);
  }
  if (username !== deps.username || !isSame(password ?? '', deps.password)) {
    throw clickhouseError(
      516,
      'AUTHENTICATION_FAILED',
      'Authentication failed: password is incorrect, or there is no such user',
    );
  }
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Adds the fields of a multipart form to the parameters: if parameters are too long for a URL, the client sends them in such a form. */
async function withFormFields(
  params: URLSearchParams,
  req: IncomingMessage,
  body: Buffer,
): Promise<{ fields: URLSearchParams; body: Buffer }> {
  const type = req.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return { fields: params, body };
  const form = await new Response(new Uint8Array(body), { headers: { 'Content-Type': type } }).formData();
  const fields = new URLSearchParams(params);
  for (const [name, value] of form) if (typeof value === 'string') fields.set(name, value);
  return { fields, body: Buffer.alloc(0) };
}

function header(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function contentType(format: string): string {
  if (format === 'JSONEachRow' || format.endsWith('EachRow')) return 'application/x-ndjson; charset=UTF-8';
  if (format.startsWith('JSON')) return 'application/json; charset=UTF-8';
  if (format.startsWith('TabSeparated') || format.startsWith('TSV')) return 'text/tab-separated-values; charset=UTF-8';
  if (format.startsWith('CSV')) return 'text/csv; charset=UTF-8; header=absent';
  if (/^(?:RowBinary|Native|Parquet|Arrow|ORC|Avro|MsgPack|Protobuf)/.test(format)) return 'application/octet-stream';
  return 'text/plain; charset=UTF-8';
}
