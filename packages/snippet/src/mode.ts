/**
 * What is allowed. false or 0: everything. true: nothing is stored, and the server identifies visitors by a daily hash.
 * 2: this page is not counted. 3: opted out; waiting hits are dropped.
 */
export type Mode = boolean | number;
