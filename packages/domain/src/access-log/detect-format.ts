import type { AccessLogFormat } from './access-log.ts';
import { clfLayoutOf, hasPort } from './clf-layout.ts';
import { clfHeadOf } from './clf-line.ts';

/** The number of lines at the start of a file that decide its format. */
export const DETECTION_LINES_MAX = 1000;

/**
 * Counts the layouts of the first lines. If the most frequent layout has a virtual host, returns the format of this layout. Otherwise
 * returns `undefined`: then the first character of each line decides whether that line is JSON. The same lines give the same result, so
 * an interrupted import continues with the same format.
 */
export function detectAccessLogFormat(lines: readonly string[]): AccessLogFormat | undefined {
  const count = { plain: 0, vhost: 0, ovh: 0 };
  let withPort = 0;
  for (const line of lines.slice(0, DETECTION_LINES_MAX)) {
    const head = clfHeadOf(line);
    if (head === undefined) continue;
    const layout = clfLayoutOf(head);
    count[layout] += 1;
    if (layout === 'vhost' && hasPort(head.first)) withPort += 1;
  }
  if (count.plain >= Math.max(count.vhost, count.ovh)) return undefined;
  if (count.ovh > count.vhost) return 'ovh';
  return withPort * 2 > count.vhost ? 'vhost_combined' : 'vhost';
}
