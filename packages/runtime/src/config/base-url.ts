const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The URL under which the same machine reaches a Weir that listens on this host and port. No trailing slash. */
export function baseUrl(host: string, port: number | string): string {
  const address = ANY_ADDRESS[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
