import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Why this machine cannot find the ports of another process; `undefined` if it can. */
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

/** The inode of the socket behind a file descriptor; `undefined` if the descriptor is not a socket or was closed meanwhile. */
function socketOf(descriptor: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(descriptor))?.[1];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
