import { isDependencyError } from '@weir/domain/errors';
import { utcDay } from '@weir/domain/people/cookieless';
import { createSealAddress, type SealAddress } from '@weir/domain/records/sealed-address';
import type { Registry } from '@weir/ports/registry';

/** Seals clients' addresses for raw records, each with the key of the day on which its record was received. */
export interface AddressSealer {
  /**
   * The sealed address; empty for no address. Returns at once where the day's key is at hand, which is nearly always. Otherwise it
   * resolves when the registry has made the key, with `undefined` where it can not, because the event log is away.
   * `receivedAt`: Unix milliseconds.
   */
  seal(ip: string, receivedAt: number): string | Promise<string | undefined>;
}

export interface AddressSealerDeps {
  readonly registry: Pick<Registry, 'salt' | 'existingSalt'>;
  /** Cryptographically random bytes. */
  readonly randomBytes: (length: number) => Uint8Array;
}

const DAY_MS = 24 * 3600_000;

export function createAddressSealer({ registry, randomBytes }: AddressSealerDeps): AddressSealer {
  /** Days since 1970 of the key at hand. */
  let sealedDay = -1;
  let sealToday: SealAddress = () => '';

  /** Takes the key of a day. Each time with a nonce of its own: the clock may go back and forth over midnight. */
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
