import { isDependencyError } from '@weir/domain/errors';
import { utcDay } from '@weir/domain/people/cookieless';
import { createSealAddress, type SealAddress } from '@weir/domain/records/sealed-address';
import type { Registry } from '@weir/ports/registry';

/** Encrypts client IPs for raw records, each with the key of the day on which the record was received. */
export interface AddressSealer {
  /**
   * Returns the encrypted client IP; an empty text if `ip` is not an address. Nearly always the key of the day is in memory, and the call
   * returns synchronously. Otherwise it resolves when the registry has created the key, or with `undefined` if the event log is
   * unavailable. `receivedAt`: Unix milliseconds.
   */
  seal(ip: string, receivedAt: number): string | Promise<string | undefined>;
}

export interface AddressSealerDeps {
  readonly registry: Pick<Registry, 'salt' | 'existingSalt'>;
  /** Returns cryptographically random bytes. */
  readonly randomBytes: (length: number) => Uint8Array;
}

const DAY_MS = 24 * 3600_000;

export function createAddressSealer({ registry, randomBytes }: AddressSealerDeps): AddressSealer {
  /** The day of the current key, as a number of days since 1970. */
  let sealedDay = -1;
  let sealToday: SealAddress = () => '';

  /**
   * Switches to the key of a day. Each switch creates a new nonce: if the clock goes back over midnight, an earlier key is used again, and a
   * nonce must not be used twice with one key.
   */
  function use(day: number, salt: string): SealAddress {
    sealToday = createSealAddress(salt, randomBytes);
    sealedDay = day;
    return sealToday;
  }

  async function sealLater(ip: string, day: number): Promise<string | undefined> {
    let salt: string;
    try {
      salt = await registry.salt(utcDay(day * DAY_MS));
    } catch (error) {
      if (isDependencyError(error)) return undefined;
      throw error;
    }
    return (day === sealedDay ? sealToday : use(day, salt))(ip);
  }

  return {
    seal(ip, receivedAt) {
      if (ip === '') return '';
      const day = Math.floor(receivedAt / DAY_MS);
      if (day === sealedDay) return sealToday(ip);
      const salt = registry.existingSalt(utcDay(receivedAt));
      return salt === undefined ? sealLater(ip, day) : use(day, salt)(ip);
    },
  };
}
