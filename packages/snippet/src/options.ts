/**
 * A switch: on if it is `true`, the text 'true' or an empty text. An attribute without a value, as in `<script data-hash>`, is an empty
 * text.
 */
export type Switch = boolean | string;
/** Names or globs (`*`: any characters), separated by commas or spaces. */
export type Globs = string;

/** The script tag's data attributes: `data-site`, `data-endpoint` and so on. */
export interface Options {
  readonly site: string;
  /**
   * Default: `api/collect`. It can also be a path of the setting COLLECT_PATHS (docs/operations.md), or several endpoints, separated by
   * spaces: if one cannot be reached, the snippet tries the next one.
   */
  readonly endpoint?: string;
  /** The base of relative endpoints: the address of the script. For the module the default is the address of the page. */
  readonly src?: string;
  /** If on, the snippet uses cookieless mode: it stores nothing in the browser. */
  readonly cookieless?: Switch;
  /** If on (the default), the snippet sends a pageview when a script of the page changes the path with the history API (single-page apps). */
  readonly spa?: Switch;
  /** If on, the fragment of the URL is part of the path. */
  readonly hash?: Switch;
  /** Only for the script tag. If on, loading the page is not a pageview: the page calls `weir.pageview()`. */
  readonly manual?: Switch;
  /** Clicks on links to other hosts are sent as events `outbound` with their `url`. Links to files are not included: see `download`. */
  readonly outbound?: Switch;
  /** Clicks on links to files are sent as events `download` with their `url`. */
  readonly download?: Switch;
  /** Submitted forms are sent as events `form` with the form's ID. */
  readonly form?: Switch;
  /** When a page is hidden or left, the time in view and the depth of scrolling are sent as the event `$engagement`. */
  readonly engagement?: Switch;
  /** Paths that are never counted. */
  readonly exclude?: Globs;
  /** The only hosts that are counted. An internationalized domain name is written as `xn--…`. Default: all. */
  readonly hosts?: Globs;
  /** Query parameters that are sent in addition to utm_*, ref, source, via and click IDs. Default: all. */
  readonly query?: Globs;
  /** If on, the snippet sends and stores nothing for visitors whose browser has Do Not Track or Global Privacy Control. */
  readonly privacy?: Switch;
}

/** Says whether a switch is on. A switch that is undefined is off. */
export const isOn = (value: Switch | undefined): boolean => /^(true)?$/.test(value as string);

export const matches = (globs: Globs, text: string): boolean =>
  new RegExp(
    `^(${globs
      .replace(/[\s,]+/g, '|')
      .replace(/[^\w|*]/g, '\\$&')
      .replace(/\*/g, '.*')})$`,
  ).test(text);
