import { ACCEPTED, DUPLICATE, expectEnvelope, expectJson } from './expect-answers.ts';
import { useWeir } from './use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';

beforeAll(async () => {
  site = await weir.createSite();
  key = (await weir.createKey(site)).key;
});

describe('4.1 idempotency', () => {
  test('32 concurrent duplicates: exactly one 202, the others 200', async () => {
    const own = await weir.createSite();
    const { key: ownKey } = await weir.createKey(own);
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

  test('two keys of one site share the window', async () => {
    const { key: second } = await weir.createKey(site);
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'shared' }), 202, ACCEPTED);
    expectJson(await weir.events(second, { name: 'x', idempotency_key: 'shared' }), 200, DUPLICATE);
  });

  test('two sites never share it', async () => {
    const { key: other } = await weir.createKey(await weir.createSite());
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'same' }), 202, ACCEPTED);
    expectJson(await weir.events(other, { name: 'x', idempotency_key: 'same' }), 202, ACCEPTED);
  });

  test('the answer to a duplicate is 200 whatever else the body says', async () => {
    expectJson(await weir.events(key, { name: 'first', idempotency_key: 'body' }), 202, ACCEPTED);
    const other = { event_name: 'second', value: 5, visitorId: 'v', idempotencyKey: 'body' };
    expectJson(await weir.events(key, other), 200, DUPLICATE);
  });

  test('its other fields are still validated first', async () => {
    expectJson(await weir.events(key, { name: 'first', idempotency_key: 'invalid' }), 202, ACCEPTED);
    expectEnvelope(await weir.events(key, { idempotency_key: 'invalid' }), 400, /name/);
    expectEnvelope(
      await weir.events(key, { name: 'x', timestamp: 'never', idempotency_key: 'invalid' }),
      400,
      /timestamp/,
    );
  });

  test('a refused request does not take its key', async () => {
    expectEnvelope(await weir.events(key, { name: 'x', value: {}, idempotency_key: 'refused' }), 400, /value/);
    expectJson(await weir.events(key, { name: 'x', idempotency_key: 'refused' }), 202, ACCEPTED);
  });

  test('keys are compared as they stand', async () => {
    for (const idempotency_key of ['Case', 'case', 'case.', 'case:']) {
      expectJson(await weir.events(key, { name: 'x', idempotency_key }), 202, ACCEPTED);
    }
  });
});
