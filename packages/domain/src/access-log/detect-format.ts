import type { AccessLogFormat } from './access-log.ts';
import { clfLayoutOf, hasPort } from './clf-layout.ts';
import { clfHeadOf } from './clf-line.ts';

/** The number of first lines that decide the format of a file. */
export const DETECTION_LINES_MAX = 1000;

/**
 * The format with virtual hosts that most of the first lines of a file have. Undefined for other files: each of their lines says by
 * its first character whether it is JSON. The same lines give the same answer, so an interrupted import goes on with the same format.
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
