import { randomBytes } from 'node:crypto';
import { withoutClientAddress } from '@weir/domain/records/client-address-text';
import { decodeRawRecord, encodeRawRecord } from '@weir/domain/records/raw-record';
import { createOpenAddress, createSealAddress } from '@weir/domain/records/sealed-address';

export interface SealTask {
  readonly rounds: number;
}

/** CPU microseconds per record, with one number for each round. */
export type SealFigures = Readonly<Record<string, readonly number[]>>;

/** Rounds are short, so that a slow phase of the machine affects all parts of a round equally. */
const LOOPS = 4_000;
const WARM_UP_ROUNDS = 10;
const ADDRESSES = 4096;
const ipv4 = Array.from({ length: ADDRESSES }, (_, i) => `203.${i >> 8}.113.${i & 255}`);
const ipv6 = Array.from(
  { length: ADDRESSES },
  (_, i) => `2001:db8:${(i + 1).toString(16)}:face::${(i + 7).toString(16)}`,
);

const head = {
  eventId: '01975a00-0000-7000-8000-000000000001',
  kind: 'event',
  siteId: 'demo',
  receivedAt: 1_780_000_000_000,
  userAgent:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36',
  acceptLanguage: 'en-GB,en;q=0.9',
} as const;
const plainBody = JSON.stringify({
  name: 'signup',
  visitor_id: 'v_1',
  url: 'https://example.com/pricing?plan=pro',
  properties: { plan: 'pro', seats: 5, trial: true },
});
const contextBody = (ip: string) => `${plainBody.slice(0, -1)},"context":{"ip":"${ip}"}}`;

/** Compares records with an encrypted address and records with a plain address. Weir wrote plain addresses before it encrypted them. */
function main({ rounds }: SealTask): SealFigures {
  const salt = randomBytes(32).toString('hex');
  const seal = createSealAddress(salt, randomBytes);
  const open = createOpenAddress();
  const sealedOf = (ips: readonly string[]) =>
    ips.map((ip) => Buffer.from(encodeRawRecord({ ...head, sealedIp: seal(ip) }, plainBody)));
  const plainOf = (ip: string) => {
    const envelope = JSON.stringify({ ...head, ip });
    return Buffer.from(`${envelope.slice(0, -1)},"body":${plainBody}}`);
  };
  const records = {
    plainIpv4: ipv4.map(plainOf),
    plainIpv6: ipv6.map(plainOf),
    ipv4: sealedOf(ipv4),
    ipv6: sealedOf(ipv6),
  };
  const texts = ipv4.map(contextBody);
  const at = <T>(list: readonly T[], i: number): T => list[i % ADDRESSES] as T;
  let kept = 0;

  const encode = (ips: readonly string[]) => (i: number) => {
    kept += encodeRawRecord({ ...head, sealedIp: seal(at(ips, i)) }, withoutClientAddress(plainBody)).length;
  };
  const decode = (sealed: readonly Buffer[]) => (i: number) => {
    kept += open(decodeRawRecord(at(sealed, i)).sealedIp ?? '', salt).length;
  };
  const encodePlain = (ips: readonly string[]) => (i: number) => {
    kept += plainOf(at(ips, i)).length;
  };
  const decodePlain = (plain: readonly Buffer[]) => (i: number) => {
    kept += decodeRawRecord(at(plain, i)).ip?.length ?? 0;
  };
  const parts: Readonly<Record<string, (i: number) => void>> = {
    'encode, IPv4 plain': encodePlain(ipv4),
    'encode, IPv4 encrypted': encode(ipv4),
    'encode, IPv6 plain': encodePlain(ipv6),
    'encode, IPv6 encrypted': encode(ipv6),
    'remove `context.ip` from a body': (i) => {
      kept += withoutClientAddress(at(texts, i)).length;
    },
    'decode, IPv4 plain': decodePlain(records.plainIpv4),
    'decode, IPv4 decrypted': decode(records.ipv4),
    'decode, IPv6 plain': decodePlain(records.plainIpv6),
    'decode, IPv6 decrypted': decode(records.ipv6),
  };
  const figures: Record<string, number[]> = Object.fromEntries(Object.keys(parts).map((name) => [name, []]));
  const inOrder = Object.entries(parts);
  const reversed = inOrder.toReversed();
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [name, part] of round % 2 === 0 ? inOrder : reversed) {
      const before = process.cpuUsage();
      for (let i = 0; i < LOOPS; i++) part(i);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) figures[name]?.push((user + system) / LOOPS);
    }
  }
  if (kept === 0) throw new Error('nothing was measured');
  return figures;
}

console.log(JSON.stringify(main(JSON.parse(process.argv[2] ?? '{}') as SealTask)));
