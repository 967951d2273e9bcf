/**
 * What the snippet may do on this page. false or 0: everything. true: cookieless mode, in which nothing is stored, and the server
 * identifies visitors by a daily hash. 2: this page is not counted. 3: the visitor opted out, and waiting hits are dropped.
 */
export type Mode = boolean | number;
