import type { ChildProcess } from 'node:child_process';

/** Ends a browser that runs as its own process group, with all its helper processes. */
export async function killBrowser(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await exited;
}
