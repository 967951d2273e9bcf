/** Options of the child process, passed as JSON in its only argument. */
export interface ChildOptions {
  readonly folder: string;
  readonly passwordFile: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Inserts are refused while less disk space than this is free. */
  readonly reserveBytes: number;
  /** The memory that all statements and caches may use together. */
  readonly memoryBytes: number;
}

export type ChildMessage =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'ready' }
  | { readonly type: 'warning'; readonly message: string; readonly fields: object }
  | { readonly type: 'failed'; readonly message: string };

export interface ParentMessage {
  readonly type: 'close';
}

export const USERNAME = 'weir';
