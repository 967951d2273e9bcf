import { DependencyError, type DependencyErrorCode, isDependencyError } from '@weir/domain/errors';
import { ConfigError } from './config/config.ts';

/** The functions that one side of a link offers to the other side. Arguments and results are copied (structured clone). */
// biome-ignore lint/suspicious/noExplicitAny: each function has its own arguments.
export type Callable = Readonly<Record<string, (...args: any[]) => unknown>>;

/** The functions of `Calls` as the called side implements them. */
export type OfferedBy<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Result | Awaited<Result>
    : never;
};

/** One end of a channel: a `MessagePort` or a `Worker` of Node between threads, or any other object with these methods. */
export interface LinkPort {
  postMessage(message: unknown, moved?: ArrayBuffer[]): void;
  on(event: 'message', listener: (message: Message) => void): unknown;
  on(event: 'messageerror', listener: (error: Error) => void): unknown;
}

/** Calls the functions of the thread at the other end. The calls arrive in the order in which they were made. */
export interface ThreadLink<Remote> {
  /** Resolves with the result. If the called function fails, rejects with an error that has the same message (see `Failure`). */
  call<Name extends keyof Remote & string>(
    name: Name,
    args: ArgumentsOf<Remote[Name]>,
    /** Array buffers that are transferred, not copied. Afterwards, this thread can no longer use them. */
    moved?: readonly ArrayBuffer[],
  ): Promise<ResultOf<Remote[Name]>>;
  /** Calls a function and ignores its result. */
  tell<Name extends keyof Remote & string>(name: Name, args: ArgumentsOf<Remote[Name]>): void;
  /** Ends the link. Calls without an answer reject. */
  close(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: each function has its own arguments.
type ArgumentsOf<Called> = Called extends (...args: infer Args extends any[]) => unknown ? Args : never;
// biome-ignore lint/suspicious/noExplicitAny: each function has its own arguments.
type ResultOf<Called> = Called extends (...args: any[]) => infer Result ? Awaited<Result> : never;

type Message =
  | { readonly kind: 'call'; readonly id: number | undefined; readonly name: string; readonly args: unknown[] }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: Failure };

/**
 * An error in the form in which it is sent to the other thread. A `DependencyError` and a `ConfigError` arrive as errors of the same class, because
 * the class decides how the error is handled: for example, both are printed without a stack trace. Any other error arrives as an `Error`.
 */
interface Failure {
  readonly message: string;
  readonly stack: string | undefined;
  readonly code?: DependencyErrorCode;
  readonly problems?: readonly string[];
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Connects two threads or two processes. `offered`: the functions that the other side may call. */
export function linkThreads<Remote>(port: LinkPort, offered: Callable): ThreadLink<Remote> {
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  let closed = false;

  const send = (message: Message, moved: readonly ArrayBuffer[] = []): void => {
    if (!closed) port.postMessage(message, moved as ArrayBuffer[]);
  };

  async function answer(id: number, name: string, args: unknown[]): Promise<void> {
    try {
      const called = offered[name];
      if (called === undefined) throw new Error(`the other thread does not offer ${name}`);
      send({ kind: 'result', id, result: await called(...args) });
    } catch (error) {
      send({ kind: 'failure', id, failure: failureOf(error) });
    }
  }

  port.on('message', (message: Message) => {
    if (message.kind === 'call') {
      if (message.id === undefined) offered[message.name]?.(...message.args);
      else void answer(message.id, message.name, message.args);
      return;
    }
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === 'result') call?.resolve(message.result);
    else call?.reject(errorOf(message.failure));
  });

  // A message that cannot be decoded ends the process. Otherwise the sender of the message would wait for an answer forever.
  port.on('messageerror', (error) => {
    throw error;
  });

  return {
    call(name, args, moved) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(new Error(`the link between the threads is closed: ${name} was not called`));
        const id = calls++;
        waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
        try {
          send({ kind: 'call', id, name, args }, moved);
        } catch (error) {
          waiting.delete(id);
          throw error;
        }
      });
    },
    tell: (name, args) => send({ kind: 'call', id: undefined, name, args }),
    close() {
      closed = true;
      for (const [id, { reject }] of waiting) {
        waiting.delete(id);
        reject(new Error('the link between the threads was closed'));
      }
    },
  };
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined };
  const { message, stack } = error;
  if (error instanceof ConfigError) return { message, stack, problems: error.problems };
  return isDependencyError(error) ? { message, stack, code: error.code } : { message, stack };
}

function errorOf({ message, stack, code, problems }: Failure): Error {
  if (problems !== undefined) return new ConfigError(problems);
  if (code !== undefined) return new DependencyError(code, message);
  const error = new Error(message);
  // Keeps the stack trace of the other thread, which shows where the error was thrown. The stack trace of this thread only shows where the
  // answer arrived.
  if (stack !== undefined) error.stack = stack;
  return error;
}
