/**
 * A browser that is controlled through a standard protocol, with one tab in the foreground. For engines that playwright-core
 * cannot control.
 */
export interface DrivenBrowser {
  readonly name: string;
  goto(url: string): Promise<void>;
  back(): Promise<void>;
  /** The JSON value of an expression in the page. If the expression is a promise, the value with which it resolves. */
  evaluate<T>(expression: string): Promise<T>;
  /** Opens a new tab in the foreground. */
  openTab(): Promise<void>;
  /** Closes the foreground tab. Another tab then comes to the foreground. */
  closeTab(): Promise<void>;
  close(): Promise<void>;
}
