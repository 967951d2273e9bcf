/** The address of Redis. */
export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  readonly username: string;
  readonly password: string;
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** Name of the master, for Sentinel; otherwise empty. */
  readonly masterName: string;
  readonly db: number;
}

const FORM = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#\s]+)(?:\/([^?#]*))?$/;

/**
 * Reads a Redis URL of one of these forms. Throws `RangeError` for any other text. `rediss…` means TLS.
 * - `redis://[user:password@]host[:6379][/db]`
 * - `redis+sentinel://[user:password@]host[:26379],host…/master-name[/db]`
 * - `redis+cluster://[user:password@]host[:6379],host…`
 */
export function readRedisUrl(url: string): RedisAddress {
  const [, s, mode, credentials = '', hosts = '', path = ''] = FORM.exec(url) ?? [];
  if (s === undefined)
    throw new RangeError('REDIS_URL must be like redis://host:6379, redis+sentinel://… or redis+cluster://…');
  // If the password contains / or @ without escaping, a part of it would be read as a host or a database number. Error messages contain hosts and
  // database numbers, so they would show this part.
  if (hosts.includes('@') || path.includes('@'))
    throw new RangeError('REDIS_URL: in the user name and the password, write / as %2F and @ as %40');
  const kind = mode === 'sentinel' || mode === 'cluster' ? mode : 'single';
  const [username = '', ...password] = credentials.split(':');
  const parts = path.split('/');
  const masterName = kind === 'sentinel' ? (parts.shift() ?? '') : '';
  if (kind === 'sentinel' && masterName === '')
    throw new RangeError('REDIS_URL: a Sentinel URL must end with the name of the master');
  const db = parts[0] === undefined || parts[0] === '' ? 0 : Number(parts[0]);
  if (!Number.isInteger(db) || db < 0) throw new RangeError(`REDIS_URL: "${parts[0]}" is not a database number`);
  return {
    kind,
    tls: s === 's',
    username: decoded(username),
    password: decoded(password.join(':')),
    hosts: hosts.split(',').map((host) => readHost(host, kind === 'sentinel' ? 26_379 : 6379)),
    masterName: decoded(masterName),
    db,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new RangeError('REDIS_URL: write a % of the user name, the password and the name of the master as %25');
  }
}

function readHost(text: string, defaultPort: number) {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) throw new RangeError(`REDIS_URL: "${text}" is not a host and port`);
  return { host, port: port === undefined ? defaultPort : Number(port) };
}
