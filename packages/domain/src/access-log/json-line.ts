import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { readLogTime } from './access-log-time.ts';
import { virtualHost } from './clf-layout.ts';
import { dashIsEmpty, readRequest } from './clf-line.ts';

/**
 * The names under which each field is read. The first name in the list whose value is a number or a text that is not empty counts. A dot separates
 * the name of an object from the name of a field in it. The names cover nginx's variables, Caddy's access log, and the usual
 * JSON layouts of Apache and Traefik. Only the time and the target are required; a missing method counts as GET and a missing
 * status as 200.
 */
export const ACCESS_LOG_JSON_FIELDS = {
  time: ['timestamp', 'time', 'ts', '@timestamp', 'time_iso8601', 'time_local', 'msec', 'date', 'StartUTC'],
  client: [
    'ip',
    'client_ip',
    'remote_addr',
    'remote_ip',
    'request.client_ip',
    'request.remote_ip',
    'ClientHost',
    'clientip',
  ],
  method: ['method', 'request_method', 'request.method', 'RequestMethod', 'verb'],
  target: ['url', 'request_uri', 'uri', 'path', 'request.uri', 'RequestPath'],
  /** A whole request line, `GET /path HTTP/1.1`. It gives the target or the method if the JSON object has no field for it. */
  request: ['request', 'request_line'],
  status: ['status', 'status_code', 'DownstreamStatus', 'response'],
  host: ['host', 'hostname', 'http_host', 'request.host', 'RequestHost', 'server_name'],
  referrer: ['referrer', 'referer', 'http_referer', 'http_referrer', 'request.headers.Referer', 'request_Referer'],
  userAgent: [
    'user_agent',
    'http_user_agent',
    'userAgent',
    'agent',
    'request.headers.User-Agent',
    'request_User-Agent',
  ],
} as const;

/** Reads a line that is a JSON object. Returns the reason if the line is not a JSON object or has no target. */
export function readJsonLine(line: string): AccessLogEntry | string {
  const object = parseJson(line);
  if (!isJsonObject(object)) return 'not a JSON object';
  // Such a row has a URL and a time, so it would be imported as a second pageview.
  if ('event_id' in object && 'raw_offset' in object)
    return 'a row of weir export events, not of an access log: only a dump of weir export everything can be imported';
  const request = readRequest(textOf(object, 'request'));
  const target = textOf(object, 'target') || request.target;
  if (target === '') return `no target: none of ${ACCESS_LOG_JSON_FIELDS.target.join(', ')}, request`;
  return {
    client: dashIsEmpty(textOf(object, 'client')),
    timestamp: readLogTime(fieldOf(object, 'time')),
    method: (textOf(object, 'method') || request.method || 'GET').toUpperCase(),
    target,
    status: Number(textOf(object, 'status') || 200),
    host: virtualHost(textOf(object, 'host')) ?? '',
    referrer: dashIsEmpty(textOf(object, 'referrer')),
    userAgent: hasField(object, 'userAgent') ? dashIsEmpty(textOf(object, 'userAgent')) : undefined,
  };
}

function fieldOf(object: JsonObject, field: keyof typeof ACCESS_LOG_JSON_FIELDS): unknown {
  for (const name of ACCESS_LOG_JSON_FIELDS[field]) {
    const value = name.includes('.') ? deep(object, name.split('.')) : object[name];
    // Caddy writes the values of a header as a list.
    const first = Array.isArray(value) ? value[0] : value;
    if ((typeof first === 'string' && first !== '') || typeof first === 'number') return first;
  }
  return undefined;
}

/**
 * Whether the log records this field at all. It does if one of the names is present, even with an empty value. It also does if the object
 * that contains the name is present (`request.headers`): a header is only missing there if the client did not send it.
 */
function hasField(object: JsonObject, field: keyof typeof ACCESS_LOG_JSON_FIELDS): boolean {
  return ACCESS_LOG_JSON_FIELDS[field].some((name) => {
    const path = name.split('.');
    return path.length === 1 ? object[name] !== undefined : isJsonObject(deep(object, path.slice(0, -1)));
  });
}

function textOf(object: JsonObject, field: keyof typeof ACCESS_LOG_JSON_FIELDS): string {
  return String(fieldOf(object, field) ?? '');
}

function deep(object: JsonObject, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}
