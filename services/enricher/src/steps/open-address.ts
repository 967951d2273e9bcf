import { sealedDay } from '@weir/domain/records/redriven';
import { createOpenAddress } from '@weir/domain/records/sealed-address';
import type { Step } from '../pipeline/step.ts';

/** Decrypts the client IP with the encryption key of its day. If Weir has already destroyed this key, the event continues without an address. */
export function createOpenAddressStep(): Step {
  const open = createOpenAddress();
  return {
    name: 'open-address',
    needsSalt: ({ sealedIp }) => sealedIp !== '',
    prepare(event, salts) {
      if (event.sealedIp === '') return undefined;
      event.ip = open(event.sealedIp, salts.get(sealedDay(event)));
      event.sealedIp = '';
      return undefined;
    },
  };
}
