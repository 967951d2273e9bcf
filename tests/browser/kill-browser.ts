import type { ChildProcess } from 'node:child_process';

/** Kills a browser and its helper processes. The browser must have its own process group. */
export async function killBrowser(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await exited;
}
