import { ACCEPTED, DUPLICATE, expectEnvelope, expectJson } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';

beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

describe('idempotency', () => {
  test('32 concurrent duplicates: exactly one 202, the others 200', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    const groups = ['a', 'b', 'c', 'd'];
    for (const group of groups) {
      const body = { name: group, idempotency_key: `storm-${group}` };
      const answers = await Promise.all(Array.from({ length: 32 }, () => weir.events(ownKey, body)));
      expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1);
      for (const answer of answers) expectJson(answer, answer.status, answer.status === 202 ? ACCEPTED : DUPLICATE);
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(31);
    }
    await weir.settled();
    const rows = await weir.rows('events', own, groups.length, 'event_name, idempotency_key');
    expect(rows.map((row) => row.idempotency_key).toSorted()).toEqual(groups.map((group) => `storm-${group}`));
  });

  test('two API keys of one site share the idempotency keys', async () => {
    const { key: second } = await weir.createKey(site);
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'shared' }), 202, ACCEPTED);
    expectJson(await weir.events(second, { name: 'x', idempotency_key: 'shared' }), 200, DUPLICATE);
  });

  test('two sites never share idempotency keys', async () => {
    const { key: other } = await weir.createKey(await weir.createSite());
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'same' }), 202, ACCEPTED);
    expectJson(await weir.events(other, { name: 'x', idempotency_key: 'same' }), 202, ACCEPTED);
  });

  test('the answer to a duplicate is 200 whatever else the body says', async () => {
    expectJson(await weir.events(key, { name: 'first', idempotency_key: 'body' }), 202, ACCEPTED);
    const other = { event_name: 'second', value: 5, visitorId: 'v', idempotencyKey: 'body' };
    expectJson(await weir.events(key, other), 200, DUPLICATE);
  });

  test('the other fields of a duplicate are validated first', async () => {
    expectJson(await weir.events(key, { name: 'first', idempotency_key: 'invalid' }), 202, ACCEPTED);
    expectEnvelope(await weir.events(key, { idempotency_key: 'invalid' }), 400, /name/);
    expectEnvelope(
      await weir.events(key, { name: 'x', timestamp: 'never', idempotency_key: 'invalid' }),
      400,
      /timestamp/,
    );
  });

  test('a refused request does not use its key', async () => {
    expectEnvelope(await weir.events(key, { name: 'x', value: {}, idempotency_key: 'refused' }), 400, /value/);
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'refused' }), 202, ACCEPTED);
  });

  test('keys are compared exactly as sent', async () => {
    for (const idempotency_key of ['Case', 'case', 'case.', 'case:']) {
      expectJson(await weir.events(key, { name: 'x', idempotency_key }), 202, ACCEPTED);
    }
  });
});

describe('the header Idempotency-Key means the same as the field idempotency_key', () => {
  const withHeader = (own: string, body: object, header: string) =>
    weir.events(own, body, { 'idempotency-key': header });
  const MISMATCH = /^Idempotency-Key must equal idempotency_key in the body when both are sent$/;

  test('a key in the header and in the body is the same key, and is stored', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    expectJson(await withHeader(ownKey, { name: 'header' }, 'order:1'), 202, ACCEPTED);
    expectJson(await withHeader(ownKey, { name: 'header' }, 'order:1'), 200, DUPLICATE);
    expectJson(await weir.events(ownKey, { name: 'body', idempotency_key: 'order:1' }), 200, DUPLICATE);
    expectJson(await weir.events(ownKey, { name: 'body', idempotency_key: 'order:2' }), 202, ACCEPTED);
    expectJson(await withHeader(ownKey, { name: 'both', idempotencyKey: 'order:2' }, 'order:2'), 200, DUPLICATE);
    expectJson(await withHeader(ownKey, { name: 'both', idempotencyKey: 'order:3' }, 'order:3'), 202, ACCEPTED);
    expectJson(await withHeader(ownKey, { name: 'null', idempotency_key: null }, 'order:4'), 202, ACCEPTED);
    await weir.settled();
    const rows = await weir.rows('events', own, 4, 'event_name, idempotency_key');
    expect(rows.map((row) => `${row.event_name} ${row.idempotency_key}`).toSorted()).toEqual([
      'body order:2',
      'both order:3',
      'header order:1',
      'null order:4',
    ]);
  });

  test('if both are sent and differ, the answer is 400 and no key is used', async () => {
    expectEnvelope(await withHeader(key, { name: 'x', idempotency_key: 'differs-a' }, 'differs-b'), 400, MISMATCH);
    expectEnvelope(
      await withHeader(key, { name: 'x', idempotencyKey: 'a' }, 'b'),
      400,
      /equal idempotencyKey in the body/,
    );
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'differs-a' }), 202, ACCEPTED);
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'differs-b' }), 202, ACCEPTED);
  });

  test.each([' ', 'a b', '"quoted"', 'x'.repeat(129), 'a,b'])(
    'the header must match the pattern of a key: %j',
    async (header) => {
      const answer = await withHeader(key, { name: 'x' }, header);
      if (header.trim() === '') expectJson(answer, 202, ACCEPTED);
      else expectEnvelope(answer, 400, /^Idempotency-Key must match \^\[A-Za-z0-9_\.:-\]\{1,128\}\$$/);
    },
  );

  test('an invalid key in the body is reported, whatever the header contains', async () => {
    expectEnvelope(
      await withHeader(key, { name: 'x', idempotency_key: 'a b' }, 'a'),
      400,
      /^idempotency_key must match/,
    );
  });

  test('a batch ignores the header: each event has its own key', async () => {
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': 'of-a-batch' };
    const events = [{ name: 'x' }, { name: 'x' }, { name: 'x', idempotency_key: 'in-a-batch' }];
    const answer = await weir.send({ path: '/api/v1/events/batch', headers, body: { events } });
    expect(answer.json).toMatchObject({ data: { accepted: 3 } });
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'of-a-batch' }), 202, ACCEPTED);
  });
});
