/**
 * What the snippet may do on this page. false or 0: everything. true: cookieless mode, in which nothing is stored, and the server
 * identifies visitors by a daily hash. 3: the visitor opted out, or `data-privacy` is set and the browser asks not to be tracked. Waiting hits are then
 * dropped. 4: this page is not counted, but waiting hits of other pages are sent, or stored. 5: the same in cookieless mode, so nothing is stored.
 * Hits may be stored if the number is even.
 */
export type Mode = boolean | number;
