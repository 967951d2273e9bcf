import { downloadCsv } from '../src/reports/download-csv.ts';
import type { Report } from '../src/reports/report-request-view.ts';

/** Answers each page of a list of `pages` pages with one value. Returns the texts of the files that are saved. */
function useList(pages: number): readonly Blob[] {
  const saved: Blob[] = [];
  const fetch = async (url: string) => {
    const page = Number(new URL(url, 'http://weir').searchParams.get('page'));
    const data = { rows: [{ value: `/${page}` }], has_more: page < pages };
    return new Response(JSON.stringify({ status: 'success', data }));
  };
  const document = { createElement: () => ({ click: () => undefined }) };
  Object.assign(globalThis, { fetch, document });
  URL.createObjectURL = (file) => {
    saved.push(file as Blob);
    return 'blob:';
  };
  URL.revokeObjectURL = () => undefined;
  return saved;
}

const REPORT = {
  id: 'breakdown',
  state: { query: {} },
  tab: { id: 'page', label: 'tab.page', metric: 'visitors' },
  dimension: 'page',
} as unknown as Report;

test.each([
  [3, 3, false],
  [100, 100, false],
  [101, 100, true],
])('of a list of %i pages, %i are saved, and that it has more is %s', async (pages, lines, hasMore) => {
  const saved = useList(pages);
  expect(await downloadCsv(REPORT, 's')).toEqual({ hasMore });
  expect((await saved[0]?.text())?.trimEnd().split('\r\n')).toHaveLength(lines + 1);
  // The byte-order mark: without it, Excel does not read the file as UTF-8.
  expect(new Uint8Array((await saved[0]?.arrayBuffer()) ?? new ArrayBuffer(0)).slice(0, 3)).toEqual(
    new Uint8Array([0xef, 0xbb, 0xbf]),
  );
});
