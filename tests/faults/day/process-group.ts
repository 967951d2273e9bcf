import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessUse {
  readonly pid: number;
  /**
   * The anonymous memory in bytes (heaps, stacks and buffers), including swap. Pages of files do not count, because the kernel can drop them at
   * any time.
   */
  readonly memory: number;
  readonly openFiles: number;
}

/** Reads the use of memory and files of each process of a process group. Linux only. */
export function readProcessGroup(group: number): readonly ProcessUse[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (groupOf(readFileSync(`/proc/${name}/stat`, 'utf8')) !== group) return [];
        return [{ pid: Number(name), memory: memoryOf(name), openFiles: readdirSync(`/proc/${name}/fd`).length }];
      } catch {
        return []; // the process has ended
      }
    });
}

/** The sum of the anonymous memory of these processes, in bytes. An ended process counts as 0. */
export function memoryTogether(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + memoryOf(String(pid));
    } catch {
      return sum;
    }
  }, 0);
}

function memoryOf(pid: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = [...status.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm)];
  return kibibytes.reduce((sum, [, count]) => sum + Number(count) * 1024, 0);
}

/** The process group in a line of /proc/PID/stat. The name of the process is in parentheses, and can contain spaces and parentheses. */
function groupOf(stat: string): number {
  const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group);
}
