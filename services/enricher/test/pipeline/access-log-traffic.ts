import { type AccessLogHit, readAccessLogLine } from '@weir/domain/access-log/access-log';
import { readRealLog } from '@weir/testkit/sample-access-log';

const GENERATED_LINES = 2000;

/** The page views of the access log that WEIR_TEST_ACCESS_LOG names, or of a generated log of the same format if it is not set. */
export function accessLogHits(domain: string): readonly (AccessLogHit & { readonly userAgent: string })[] {
  const text = readRealLog() ?? generatedLog();
  const hits = [];
  for (const line of text.split('\n')) {
    const outcome = readAccessLogLine(line, { format: undefined, domain });
    if (outcome.kind === 'hit') hits.push({ ...outcome.hit, userAgent: outcome.hit.userAgent ?? '' });
  }
  return hits;
}

const AGENTS = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64; rv:27.0) Gecko/20100101 Firefox/27.0',
  '-',
];
const REFERRERS = ['-', 'https://www.google.com/', 'http://semicomplete.com/presentations/', 'http://t.co/x'];

function generatedLog(): string {
  const lines = Array.from({ length: GENERATED_LINES }, (_, i) => {
    const client = `83.149.${i % 7}.${i % 251}`;
    const time = `17/May/2015:10:${String(i % 60).padStart(2, '0')}:03 +0000`;
    return `${client} - - [${time}] "GET /blog/${i % 90} HTTP/1.1" 200 ${i} "${REFERRERS[i % 4]}" "${AGENTS[i % 3]}"`;
  });
  return lines.join('\n');
}
