/** The number and the bytes of the records that wait until they are appended to the event log. As `max`: the limits of both. */
export interface Waiting {
  readonly records: number;
  readonly bytes: number;
}

/** Counts the waiting records of one sender: an API key, or a site. The methods get the number of bytes of one record. */
export interface Sender {
  /** Counts a record as waiting. If this would exceed a limit, counts nothing and returns false: the request must be refused. */
  enter(bytes: number): boolean;
  /** Call it when a record does not wait any longer. */
  leave(bytes: number): void;
}

export interface WaitingRoom {
  /**
   * Returns the sender of a record. For server events and identifies, it is the API key with the ID `keyId`. All hits of a site are one sender, with
   * an empty `keyId`. Hits that are being received have the network of their client in place of `siteId`, because their site is not known yet. Call
   * `enter` at once: later, another sender can have taken the place of one that has no waiting record.
   */
  sender(siteId: string, keyId: string): Sender;
  waiting(): number;
}

/**
 * The space is the number of records, or of bytes, that can wait in total. A site can use up to this many times the space that is free now. A sender
 * can use up to this many times what its site can still use. So one sender alone gets 76 % of all space. Several sites that send too much get equal
 * shares, and some space always stays free for all other sites (dynamic thresholds, Choudhury and Hahne 1998).
 */
const SHARE_OF_FREE = 4;
/** If there are counts of more sites than this, the counts of a site are deleted when it has no waiting record, to free memory. */
const SITES_KEPT = 10_000;

interface Counts {
  records: number;
  bytes: number;
}

interface SiteCounts extends Counts {
  readonly senders: Map<string, Sender>;
}

/** Limits the records that wait for the event log, so that a site or a key that sends too much cannot use up the room of all others. */
export function createWaitingRoom(max: Waiting): WaitingRoom {
  const all: Counts = { records: 0, bytes: 0 };
  const sites = new Map<string, SiteCounts>();

  /**
   * Whether one more record may wait. `free`: the free space after this record. `site` and `own`: what the site and the sender use now. All three
   * values are numbers of records, or all three are numbers of bytes.
   */
  function hasShare(free: number, site: number, own: number): boolean {
    const siteMax = free * SHARE_OF_FREE;
    return site <= siteMax && own <= (siteMax - site) * SHARE_OF_FREE;
  }

  function add(counts: Counts, records: number, bytes: number): void {
    counts.records += records;
    counts.bytes += bytes;
  }

  function createSender(siteId: string, site: SiteCounts): Sender {
    const own: Counts = { records: 0, bytes: 0 };
    const count = (records: number, bytes: number): void => {
      add(all, records, bytes);
      add(site, records, bytes);
      add(own, records, bytes);
    };
    const hasRoom = (bytes: number): boolean => {
      const freeRecords = max.records - all.records - 1;
      const freeBytes = max.bytes - all.bytes - bytes;
      if (freeRecords < 0 || freeBytes < 0) return false;
      return hasShare(freeRecords, site.records, own.records) && hasShare(freeBytes, site.bytes, own.bytes);
    };
    const forgetSite = (): void => {
      if (site.records === 0 && sites.size > SITES_KEPT) sites.delete(siteId);
    };
    return {
      enter(bytes) {
        const isAdmitted = hasRoom(bytes);
        if (isAdmitted) count(1, bytes);
        else forgetSite();
        return isAdmitted;
      },
      leave(bytes) {
        count(-1, -bytes);
        forgetSite();
      },
    };
  }

  return {
    sender(siteId, keyId) {
      let site = sites.get(siteId);
      if (site === undefined) {
        site = { records: 0, bytes: 0, senders: new Map() };
        sites.set(siteId, site);
      }
      let sender = site.senders.get(keyId);
      if (sender === undefined) {
        sender = createSender(siteId, site);
        site.senders.set(keyId, sender);
      }
      return sender;
    },
    waiting: () => all.records,
  };
}
