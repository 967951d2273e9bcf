/** A browser with one tab in front, driven over a protocol of the standards. For engines that playwright-core can't drive. */
export interface DrivenBrowser {
  readonly name: string;
  goto(url: string): Promise<void>;
  back(): Promise<void>;
  /** The JSON value of an expression in the page; a promise's where it is one. */
  evaluate<T>(expression: string): Promise<T>;
  /** A tab more, which is the one in front from now on. */
  openTab(): Promise<void>;
  /** Closes the tab in front; another one comes to the front. */
  closeTab(): Promise<void>;
  close(): Promise<void>;
}
