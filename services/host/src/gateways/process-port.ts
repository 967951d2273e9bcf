import type { ChildProcess } from 'node:child_process';
import type { LinkPort } from '@weir/runtime/thread-link';

/** The port of a link (packages/runtime/src/thread-link.ts) to a child process, which was started with `serialization: 'advanced'`. */
export function childPort(child: ChildProcess): LinkPort {
  return {
    // A message to a process that has ended is dropped.
    postMessage: (message) => void child.send(message as object, () => undefined),
    on(event: string, listener: (message: never) => void) {
      if (event === 'message') child.on('message', listener as (message: unknown) => void);
    },
  };
}

/** The port of a link to the parent process. */
export function parentProcessPort(self: NodeJS.Process): LinkPort {
  return {
    postMessage: (message) => void self.send?.(message, () => undefined),
    on(event: string, listener: (message: never) => void) {
      // Other events of a link are not needed: if Node cannot decode a message between processes, it ends the receiver without an event.
      if (event === 'message') self.on('message', listener as (message: unknown) => void);
    },
  };
}
