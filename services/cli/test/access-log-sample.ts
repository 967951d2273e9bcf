import { GENERATED_LOG_REASON, readRealLog } from '@weir/testkit/sample-access-log';

/** The real log of 10,000 requests, or a generated log of the same shape if WEIR_TEST_ACCESS_LOG is not set. */
export function accessLogSample(): { readonly bytes: Buffer; readonly pageviews: number; readonly generated: boolean } {
  const text = readRealLog();
  if (text !== undefined) return { bytes: Buffer.from(text), pageviews: 4213, generated: false };
  console.warn(`${GENERATED_LOG_REASON}: importing a generated log of the same shape`);
  const lines = Array.from({ length: 10_000 }, (_, index) => {
    const time = new Date(Date.UTC(2015, 4, 17, 10, 5, 3) + index * 30_000).toUTCString().split(' ');
    const clf = `${time[1]}/${time[2]}/${time[3]}:${time[4]} +0000`;
    const path = index % 2 === 0 ? `/articles/${index % 300}` : `/style-${index % 5}.css`;
    const agent = `Mozilla/5.0 (X11; Linux x86_64; rv:${20 + (index % 30)}.0) Gecko/20100101 Firefox/25.0`;
    return `198.51.100.${index % 250} - - [${clf}] "GET ${path} HTTP/1.1" 200 4321 "-" "${agent}"\n`;
  });
  return { bytes: Buffer.from(lines.join('')), pageviews: 5000, generated: true };
}
