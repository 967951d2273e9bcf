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
      // A link also listens to `messageerror`. A process never gets this event: if Node cannot decode a message of a process, it ends the receiver.
      if (event === 'message') self.on('message', listener as (message: unknown) => void);
    },
  };
}
