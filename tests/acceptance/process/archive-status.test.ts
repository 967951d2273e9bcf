import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { runWeir } from '@weir/testkit/weir-process';
import { describeOwnProcess, useOwnWeir } from '../use-weir.ts';

const WITHIN_MS = 60_000;
const TOPICS = ['events.raw', 'events.enriched'];

describeOwnProcess('an archive that cannot be written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-archive-status-'));
  // The archive is below a file, so its folder cannot be created, also not by root.
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const weir = useOwnWeir({ ARCHIVE_URL: `file://${join(file, 'archive')}`, ARCHIVE_LINGER_SECONDS: '1' });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const status = async (...options: string[]): Promise<string> =>
    (await runWeir(weir.client, ['status', ...options])).stdout;
  const topics = async () =>
    ((await weir.client.must(200, 'GET', '/installation')) as { archive: { topics: object[] } }).archive.topics;

  test('weir status shows its error with advice, until it can be written', async () => {
    const site = await weir.client.createSite();
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', pathname: '/' };
    await weir.client.collect(hit);
    const shows = (lag: number, error: string) => async () => {
      const lines = (await status()).split('\n');
      return TOPICS.every((topic) => lines.some((line) => new RegExp(`^${topic} +${lag}  ${error}`).test(line)));
    };
    const refused = 'object_store_refused: cannot store events\\..* ENOTDIR.*: check the folder and its permissions';
    await eventually('the error of both topics', shows(1, refused), WITHIN_MS);
    expect(await topics()).toEqual(
      TOPICS.map((topic) => ({
        ...{ topic, lag: 1, alarm: null },
        last_error: expect.stringMatching(/^object_store_refused: /),
      })),
    );
    const failed = '\n\nthe export of Parquet files failed: object_store_refused: cannot store ';
    await eventually('the error of the export', async () => (await status()).includes(failed), WITHIN_MS);
    // Scripts read the list of the consumers.
    expect(JSON.parse(await status('--json'))).toEqual(
      TOPICS.map((topic) => expect.objectContaining({ topic, lag: 0 })),
    );

    rmSync(file);
    await eventually('no error, and no record that is not archived', shows(0, 'none$'), WITHIN_MS);
    expect(await topics()).toEqual(TOPICS.map((topic) => ({ topic, lag: 0, last_error: null, alarm: null })));
  });
});
