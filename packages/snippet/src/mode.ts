/**
 * What may be done of a visit. false or 0: all. true: nothing is stored, the server tells visitors apart by a daily hash.
 * 2: this page is not counted. 3: opted out, what waits to be sent is not sent either.
 */
export type Mode = boolean | number;
