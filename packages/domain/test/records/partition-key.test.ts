import { cookielessPartitionKey, partitionKey } from '../../src/records/partition-key.ts';

describe('partition key of a raw record', () => {
  const owner = { siteId: 's', eventId: 'e', userId: '', visitorId: '', idempotencyKey: '' };
  it('is the user of an identify or of an event without visitor; otherwise the visitor, the key or the event', () => {
    expect(partitionKey({ ...owner, userId: 'u', visitorId: 'v' }, true)).toBe('s/u/u');
    expect(partitionKey({ ...owner, userId: 'u' }, false)).toBe('s/u/u');
    expect(partitionKey({ ...owner, userId: 'u', visitorId: 'v' }, false)).toBe('s/v/v');
    expect(partitionKey({ ...owner, idempotencyKey: 'k' }, false)).toBe('s/k/k');
    expect(partitionKey(owner, false)).toBe('s/e/e');
  });

  it('is short and deterministic', () => {
    const long = { ...owner, userId: '😀'.repeat(256) };
    expect(partitionKey(long, false)).toBe(partitionKey(long, true));
    expect(partitionKey(long, false).length).toBeLessThan(64);
    expect(cookielessPartitionKey('s', '2001:db8::1', 'ua')).toBe(cookielessPartitionKey('s', '2001:db8::2', 'ua'));
    expect(cookielessPartitionKey('s', '2001:db8::1', 'ua')).not.toBe(cookielessPartitionKey('s', '2001:db8::1', 'b'));
  });
});
