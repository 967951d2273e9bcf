import { addToHistory, clearHistory, readHistory } from '../src/sql/sql-history.ts';

/** Sets `localStorage` to a storage with these items. If `items` is undefined, each call throws, as if the browser blocked the storage. */
function useStorage(items: Map<string, string> | undefined): void {
  const stored = (): Map<string, string> => {
    if (items === undefined) throw new Error('blocked');
    return items;
  };
  Object.assign(globalThis, {
    localStorage: {
      getItem: (key: string) => stored().get(key) ?? null,
      setItem: (key: string, value: string) => stored().set(key, value),
      removeItem: (key: string) => stored().delete(key),
    },
  });
}

let items: Map<string, string>;
beforeEach(() => {
  items = new Map();
  useStorage(items);
});

test('the last 50 statements stay, each once', () => {
  for (let n = 0; n < 60; n++) addToHistory(`SELECT ${n}`, []);
  addToHistory('SELECT 30', []);
  expect(readHistory()).toHaveLength(50);
  expect(readHistory().slice(0, 2)).toEqual(['SELECT 30', 'SELECT 59']);
  expect(readHistory().filter((one) => one === 'SELECT 30')).toHaveLength(1);
  clearHistory();
  expect([readHistory(), items.size]).toEqual([[], 0]);
});

test('all statements together have at most 200,000 chars', () => {
  for (let n = 0; n < 4; n++) addToHistory(`${n} ${'x'.repeat(65_000)}`, []);
  expect(readHistory().map((one) => one[0])).toEqual(['3', '2', '1']);
});

test.each(['wk_abcdefgh1234', 'wv_abcdefgh-_34'])('a statement with the secret %s is not stored', (secret) => {
  expect(addToHistory(`SELECT '${secret}'`, ['shown'])).toEqual(['shown']);
  expect(items.size).toBe(0);
});

test.each(['not JSON', '{}', '[1, null]'])('what another program wrote, %s, is ignored', (text) => {
  items.set('weir-sql-history', text);
  expect(readHistory()).toEqual([]);
});

test('without storage, the history ends with the page', () => {
  useStorage(undefined);
  expect(addToHistory('SELECT 2', ['SELECT 1'])).toEqual(['SELECT 2', 'SELECT 1']);
  expect(readHistory()).toEqual([]);
  clearHistory();
});
