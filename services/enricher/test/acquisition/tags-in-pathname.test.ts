import { useOpened } from '@weir/testkit/use-opened';
import { openEnrichHarness, pageview } from '../pipeline/enrich-harness.ts';

/** docs/decisions/0011-what-is-kept-of-a-url.md */
describe('tags in the query of a pathname', () => {
  const harness = useOpened(openEnrichHarness);

  test.each([
    // The snippet with the option `hash` sends these.
    ['https://example.com/', '/#/a?utm_source=news&utm_medium=email&gclid=1&x=2', 'news', 'gclid', '/#/a?x=2'],
    ['https://example.com/?x=1', '/#/a#b?utm_source=news', 'news', '', '/#/a#b'],
    ['https://example.com/?utm_source=url', '/#/a?utm_source=news&gclid=1', 'url', 'gclid', '/#/a'],
    ['https://example.com/?fbclid=1', '/#/a?utm_source=news', 'news', 'fbclid', '/#/a'],
    ['https://example.com/a', '/a?utm_source=news', '', '', '/a'],
    ['', '/a?utm_source=path&x=1#/b?utm_source=news&msclkid=2', 'path', 'msclkid', '/a?x=1#/b'],
    ['', '/#/a?utm_source=news', 'news', '', '/#/a'],
    ['', '/#/a', '', '', '/#/a'],
  ])('%s with %s', async (url, pathname, source, click, stored) => {
    const [row] = await harness.enrich({ body: pageview({ url, pathname }) });
    expect(row).toMatchObject({ url, utm_source: source, click_id_type: click, pathname: stored });
  });
});
