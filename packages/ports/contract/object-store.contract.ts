import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ObjectStore, StoredObject } from '../src/object-store.ts';

/** The tests that every implementation of the object store passes. `open` creates a new, empty store. */
export function objectStoreContract(open: () => Promise<ObjectStore>): void {
  let store: ObjectStore;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  const text = async (name: string): Promise<string | undefined> => {
    const found = await store.get(name);
    return found === undefined ? undefined : (await buffer(found)).toString();
  };
  const listed = async (prefix: string): Promise<readonly StoredObject[]> => {
    const found: StoredObject[] = [];
    for await (const object of store.list(prefix)) found.push(object);
    return found;
  };

  it('returns the bytes that were stored', async () => {
    await store.put('a/one.txt', Buffer.from('one'));
    expect(await text('a/one.txt')).toBe('one');
  });

  it('stores a stream of several parts', async () => {
    const part = Buffer.alloc(1_000_000, 'x');
    await store.put('big', Readable.from(Array.from({ length: 20 }, () => part)));
    expect(await listed('')).toMatchObject([{ name: 'big', bytes: 20_000_000 }]);
    expect((await buffer((await store.get('big')) as Readable)).equals(Buffer.alloc(20_000_000, 'x'))).toBe(true);
  });

  it('replaces an object of the same name', async () => {
    await store.put('name', Buffer.from('first'));
    await store.put('name', Buffer.from('second'));
    expect(await text('name')).toBe('second');
    expect(await listed('')).toHaveLength(1);
  });

  it('creates an object once, and does not change it when it is created again', async () => {
    const created = await Promise.all(['1', '2', '3'].map((body) => store.create('a/b', Buffer.from(body))));
    expect(created.filter(Boolean)).toHaveLength(1);
    const first = await text('a/b');
    expect(first).toBe(String(created.indexOf(true) + 1));
    expect(await store.create('a/b', Buffer.from('later'))).toBe(false);
    expect(await text('a/b')).toBe(first);
    expect(await listed('')).toMatchObject([{ name: 'a/b', bytes: 1 }]);
    await store.delete('a/b');
    expect(await store.create('a/b', Buffer.from('new'))).toBe(true);
  });

  it('replaces an object only if it still has the expected version', async () => {
    expect(await store.version('a/b')).toBeUndefined();
    await store.put('a/b', Buffer.from('first'));
    const first = String(await store.version('a/b'));
    expect(await store.version('a/b')).toBe(first);
    expect(await store.replace('a/b', first, Buffer.from('one'))).toBe(true);
    expect(await store.replace('a/b', first, Buffer.from('two'))).toBe(false);
    expect(await text('a/b')).toBe('one');
    const second = String(await store.version('a/b'));
    expect(second).not.toBe(first);
    expect(await store.replace('a/b', second, Buffer.from('next'))).toBe(true);
    await store.delete('a/b');
    expect(await store.replace('a/b', second, Buffer.from('gone'))).toBe(false);
    expect(await listed('')).toEqual([]);
  });

  it('stores nothing of an object whose stream failed, and keeps the former object', async () => {
    await store.put('kept', Buffer.from('former'));
    for (const name of ['new', 'kept']) {
      const broken = Readable.from(
        (function* () {
          yield Buffer.alloc(100_000);
          throw new Error('the source failed');
        })(),
      );
      await expect(store.put(name, broken)).rejects.toThrow('the source failed');
    }
    expect(await text('new')).toBeUndefined();
    expect(await text('kept')).toBe('former');
    expect(await listed('')).toMatchObject([{ name: 'kept', bytes: 6 }]);
  });

  it('returns undefined for a name without an object, also if it is the folder of another object', async () => {
    await store.put('a/b', Buffer.from('1'));
    expect(await store.get('a')).toBeUndefined();
    expect(await store.get('c')).toBeUndefined();
  });

  it('lists by prefix, ordered by name', async () => {
    for (const name of ['a/2', 'a/10', 'a-1', 'b/c/d', 'a.txt']) await store.put(name, Buffer.from(name));
    expect((await listed('')).map(({ name }) => name)).toEqual(['a-1', 'a.txt', 'a/10', 'a/2', 'b/c/d']);
    expect((await listed('a/')).map(({ name }) => name)).toEqual(['a/10', 'a/2']);
    expect((await listed('a/1')).map(({ name }) => name)).toEqual(['a/10']);
    expect(await listed('none')).toEqual([]);
  });

  it('lists the time at which an object was stored, exact to the second', async () => {
    const before = Date.now();
    await store.put('a', Buffer.from('1'));
    const [found] = await listed('');
    expect(found?.storedAt).toBeGreaterThan(before - 2_000);
    expect(found?.storedAt).toBeLessThan(Date.now() + 2_000);
  });

  it('deletes an object, and ignores an object that does not exist', async () => {
    await store.put('a/b', Buffer.from('1'));
    await store.delete('a/b');
    await store.delete('a/b');
    expect(await store.get('a/b')).toBeUndefined();
    expect(await listed('')).toEqual([]);
  });

  it.each([
    '',
    '/',
    '../up',
    'a/../b',
    'a//b',
    '/a',
    'a/',
    '.hidden',
    'a/.part-1',
    'é',
    'a b',
    'a\\b',
    'x'.repeat(901),
  ])('refuses the name %j', async (name) => {
    await expect(store.put(name, Buffer.from('1'))).rejects.toThrow(TypeError);
    await expect(store.get(name)).rejects.toThrow(TypeError);
    await expect(store.delete(name)).rejects.toThrow(TypeError);
  });
}
