/** What the child is started with, as JSON in its one argument. */
export interface ChildOptions {
  readonly folder: string;
  readonly passwordFile: string;
  /** 0: any free one. */
  readonly port: number;
}

export type ChildMessage =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly message: string };

export interface ParentMessage {
  readonly type: 'close';
}

export const USERNAME = 'weir';
