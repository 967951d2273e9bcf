import { addressAdvice } from '../src/pipeline/address-advice.ts';

const direct = { address: '198.51.100.9', header: '', peer: '198.51.100.9', peerTrusted: false };
const proxied = { address: '203.0.113.1', header: 'x-forwarded-for', peer: '10.0.0.2', peerTrusted: true };

test('no advice for a visitor who is connected directly or only through trusted proxies', () => {
  expect(addressAdvice(direct, {}, undefined)).toEqual([]);
  expect(addressAdvice(proxied, { 'x-forwarded-for': '203.0.113.1' }, undefined)).toEqual([]);
  const cdn = { ...proxied, header: 'cf-connecting-ip' };
  const sent = { 'cf-connecting-ip': '203.0.113.1', 'true-client-ip': '203.0.113.1', 'x-forwarded-for': '203.0.113.1' };
  expect(addressAdvice(cdn, sent, 'cf-connecting-ip')).toEqual([]);
});

test('advice for a proxy that is not trusted', () => {
  expect(addressAdvice(direct, { 'x-forwarded-for': '203.0.113.1', 'x-real-ip': '203.0.113.1' }, undefined)).toEqual([
    expect.stringMatching(
      /^The connection came from 198\.51\.100\.9, which is not in TRUSTED_PROXIES, so x-forwarded-for, x-real-ip /,
    ),
  ]);
});
