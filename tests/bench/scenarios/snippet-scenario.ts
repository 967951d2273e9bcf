import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { showNumber } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

interface SnippetSize {
  readonly file: string;
  readonly holds: string;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly gzipBytesMax: number;
}

/**
 * The scripts of other products, on 2026-11-21. Measured: the bytes of `gzip -9` of the file in the npm package, or of the file that the
 * package builds. Published: the size that a public page states.
 */
const PEERS = [
  [
    'Umami',
    '1,361 bytes',
    'umami 2.10.0 (the newest on npm), src/tracker/index.js minified as its rollup config does, measured',
  ],
  ['Plausible', '2,681 bytes', '@plausible-analytics/tracker 0.4.6, plausible.js (not minified), measured'],
  ['OpenPanel', '3,277 bytes', '@openpanel/web 1.4.1, tracker.global.js, measured'],
  ['Snowplow', '17,385 bytes', '@snowplow/browser-tracker 4.10.1, index.umd.min.js, measured'],
  ['Mixpanel', '33,415 bytes', 'mixpanel-browser 2.83.0, mixpanel.min.js, measured'],
  ['Countly', '36,688 bytes', 'countly-sdk-web 26.1.1, countly.min.js, measured'],
  ['PostHog', '121,971 bytes', 'posthog-js 1.449.2, array.js, measured'],
  ['Plausible', '2.5 KB', 'published: github.com/plausible/website, the article analytics-script-size'],
  ['Simple Analytics', '3.7 KB, light 1.9 KB', 'published: docs.simpleanalytics.com/light'],
  ['GoatCounter', 'about 3.2 KB', 'published, as listed by API Evangelist: count.js, not minified'],
] as const;

export const snippet: Scenario = {
  name: 'snippet',
  about: 'the compressed size of the browser script, compared with the scripts of other products',
  rounds: 1,
  onlyByName: 'its figures change with the code, not with the machine',
  run,
};

async function run({ programs }: Bench): Promise<Findings> {
  const { buildSnippet } = (await import(`${PROJECT_ROOT}/scripts/build-snippet.mjs`)) as {
    buildSnippet(root: string, publicDir: string): Promise<readonly SnippetSize[]>;
  };
  const sizes = await buildSnippet(PROJECT_ROOT, programs.newFolder());
  const bytes = (count: number): string => `${showNumber(count, 0)} bytes`;
  return {
    tables: [
      {
        head: ['Weir', 'gzip', 'plain', 'contains'],
        rows: sizes.map(({ file, gzipBytes, bytes: plain, holds }) => [file, bytes(gzipBytes), bytes(plain), holds]),
      },
      { head: ['other products', 'gzip', 'source'], rows: PEERS },
    ],
    targets: sizes.map(({ file, gzipBytes, gzipBytesMax }) => ({
      what: `${file}, gzip`,
      wanted: `<= ${bytes(gzipBytesMax)}`,
      found: bytes(gzipBytes),
      met: gzipBytes <= gzipBytesMax,
    })),
    notes: [
      "The build prints these sizes. In CI it fails if a size is above its limit. The size is the larger one of Node's gzip (level 9) and `gzip -9`.",
      'The products differ: some load more scripts later, some have no events, queue or storage, and some have many more features than Weir. A size alone says nothing about the features of a product.',
    ],
  };
}
