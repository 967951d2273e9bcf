/**
 * What the snippet may do on this page. Hits may be stored in the browser if the number is even (false counts as 0, true as 1).
 * - `false` or 0: everything.
 * - `true`: cookieless mode. Nothing is stored, and the server identifies visitors by a daily hash.
 * - 3: the visitor opted out, or `data-privacy` is set and the browser asks not to be tracked. Waiting hits are dropped.
 * - 4: this page is not counted. Hits of earlier pages that still wait are sent, or stored if they cannot be sent.
 * - 5: the same as 4, but in cookieless mode. Nothing is stored.
 */
export type Mode = boolean | number;
