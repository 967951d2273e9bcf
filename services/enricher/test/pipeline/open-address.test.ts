import { randomBytes } from 'node:crypto';
import { utcDay } from '@weir/domain/people/cookieless';
import { createSealAddress } from '@weir/domain/records/sealed-address';
import { useOpened } from '@weir/testkit/use-opened';
import { IP, NOW, openEnrichHarness, pageview } from './enrich-harness.ts';

const DAY_MS = 24 * 3600_000;
let seal: (ip: string) => string;
const harness = useOpened(openEnrichHarness);
beforeAll(async () => {
  seal = createSealAddress(await harness.registry.salt(utcDay(NOW)), randomBytes);
});

const cookieless = { body: pageview({ visitor_id: '', session_id: '' }) };

test('an encrypted address gives the same row as a plain one in a record of an older version', async () => {
  const [plain, sealed, other] = await harness.enrich(
    { ...cookieless, ip: IP },
    { ...cookieless, ip: '', sealedIp: seal(IP) },
    { ...cookieless, ip: '', sealedIp: seal('2001:db8::1') },
  );
  expect(sealed).toMatchObject({ country: 'GB', visitor_id: plain?.visitor_id, session_id: plain?.session_id });
  expect(other?.visitor_id).not.toBe(plain?.visitor_id);
});

test('an exclusion rule can match an encrypted address', async () => {
  const rule = await harness.exclude('ip', '198.51.100.7');
  const [line] = await harness.enrich({ ip: '', sealedIp: seal('198.51.100.7'), body: pageview() });
  expect(line).toMatchObject({ outcome: 'dropped', reason: 'excluded_ip', rule_id: rule });
});

test('in a server event, the encrypted address is context.ip; in an older record, context.ip wins over the envelope', async () => {
  const [sealed, plain] = await harness.enrich(
    { kind: 'event', ip: '', sealedIp: seal(IP), body: { name: 'e', context: { ip: '' } } },
    { kind: 'event', ip: '8.8.8.8', body: { name: 'e', context: { ip: IP } } },
  );
  expect([sealed?.country, plain?.country]).toEqual(['GB', 'GB']);
});

test('a record whose encryption key was destroyed is processed without an address', async () => {
  const receivedAt = NOW - DAY_MS;
  const sealedIp = createSealAddress(await harness.registry.salt(utcDay(receivedAt)), randomBytes)(IP);
  const record = { receivedAt, ip: '', sealedIp, body: pageview() };
  expect(await harness.enrich(record)).toMatchObject([{ outcome: 'row', country: 'GB' }]);
  await harness.registry.removeSaltsBefore(utcDay(NOW));
  expect(await harness.enrich(record)).toMatchObject([{ outcome: 'row', country: '' }]);
});

test.each([['not a seal'], [`1${'x'.repeat(31)}`], [7], [{}]])(
  'a seal that is not known is a dead letter: %j',
  async (sealedIp) => {
    const [line] = await harness.enrich({ ip: '', sealedIp: sealedIp as string, body: pageview() });
    expect(line).toMatchObject({ outcome: 'dead', reason: 'unreadable' });
  },
);

test('a forged ciphertext gives no address or a wrong address, but no error', async () => {
  const sealedIp = `${seal(IP).slice(0, -4)}%%\u0000\u{1F4A5}`.slice(0, 33);
  const [line] = await harness.enrich({ ip: '', sealedIp, body: pageview() });
  expect(line).toMatchObject({ outcome: 'row', country: '' });
});

test('a dead letter contains neither the address nor its ciphertext', async () => {
  const sealedIp = seal(IP);
  const [line] = await harness.enrich({ ip: '', sealedIp, kind: 'other' as never, body: pageview() });
  expect(line?.outcome).toBe('dead');
  expect(String(line?.detail)).not.toContain(sealedIp);
});
