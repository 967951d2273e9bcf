import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Why the ports of another process cannot be found on this machine; `undefined` if they can. */
export function whyNoClientPorts(): string | undefined {
  return process.platform === 'linux' ? undefined : 'finding the connections of one process needs Linux (/proc)';
}

/** The local ports of all IPv4 TCP connections of a process. */
export function portsOfProcess(pid: number): ReadonlySet<number> {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).flatMap((name) => socketOf(`/proc/${pid}/fd/${name}`) ?? []));
  const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n');
  const ports = lines.flatMap((line) => {
    const [, local = '', , , , , , , , socket = ''] = line.trim().split(/\s+/);
    return sockets.has(socket) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
  return new Set(ports);
}

/** The number of the socket that a file descriptor refers to; `undefined` if it refers to something else or was closed meanwhile. */
function socketOf(descriptor: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(descriptor))?.[1];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
