import { filesWith } from '@weir/testkit/client-addresses';
import { startWeir, type WeirOptions, type WeirProcess } from '@weir/testkit/weir-process';
import { FAULTS_ENV } from '../exactly-once.ts';
import { failingProgram, MUTATION } from '../failpoints/failing-program.ts';
import type { Subject } from './fault.ts';
import { LOAD_ADDRESS } from './visitor-load.ts';

export interface Embedded extends Subject {
  readonly weir: WeirProcess;
}

export const SUITE_ENV = { ...FAULTS_ENV, TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'warn' };

export async function openEmbedded(options: WeirOptions = {}, onClose = async () => {}): Promise<Embedded> {
  const program = MUTATION === undefined ? {} : { program: failingProgram() };
  const weir = await startWeir({ ...program, ...options, env: { ...SUITE_ENV, ...options.env } });
  const { client, url } = weir;
  return {
    ...{ weir, client, url, urls: [url] },
    async close() {
      try {
        await weir.stop();
      } finally {
        await onClose();
      }
    },
  };
}

/** Returns one sentence for each file of the data folder with a client IP of the load: only encrypted client IPs may be stored. */
export function addressesOnDisk({ weir }: Pick<Embedded, 'weir'>): readonly string[] {
  return filesWith(weir.dataDir, [LOAD_ADDRESS]).map((found) => `a client IP is on the disk: ${found}`);
}
