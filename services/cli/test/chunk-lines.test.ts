import { chunkLines, newLineCounts } from '@weir/cli/import/chunk-lines';

const line = (path: string) => `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "Firefox"`;

async function* runsOf(...runs: readonly (readonly string[])[]): AsyncGenerator<readonly string[]> {
  yield* runs;
}

test.each([
  ['in the same part', [['/1', '/2', '/3', '/4']]],
  ['in a later part', [['/1', '/2', '/3'], ['/4']]],
])('lines that were added to a log while it was imported are not imported: %s', async (_, runs) => {
  const counts = newLineCounts();
  const bad = jest.fn();
  const read = runsOf(...runs.map((paths) => [...paths.map(line), 'nonsense']));
  const chunks = [];
  for await (const chunk of chunkLines(read, { from: 1, to: 3 }, { format: 'combined', domain: 'a.b' }, counts, bad)) {
    chunks.push(chunk);
  }
  expect(chunks).toMatchObject([
    {
      ...{ first_line: 2, last_line: 3 },
      hits: [
        { line: 2, url: 'https://a.b/2' },
        { line: 3, url: 'https://a.b/3' },
      ],
    },
  ]);
  expect(counts).toEqual(newLineCounts());
  expect(bad).not.toHaveBeenCalled();
});
