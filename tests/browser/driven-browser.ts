/**
 * A browser that a test controls through a standard protocol (WebDriver), for engines that playwright-core cannot control. One tab is in the
 * foreground.
 */
export interface DrivenBrowser {
  readonly name: string;
  goto(url: string): Promise<void>;
  back(): Promise<void>;
  /** Evaluates an expression in the page, and resolves with its JSON value. Waits if the value is a promise. */
  evaluate<T>(expression: string): Promise<T>;
  openTab(): Promise<void>;
  /** Closes the foreground tab. Another tab then comes to the foreground. */
  closeTab(): Promise<void>;
  close(): Promise<void>;
}
