import { createHash } from 'node:crypto';
import type { SourceLists } from '@weir/domain/source';
import UaParser from 'ua-parser-js';
import bots from '../lists/bots.json';

/** Raise it with every change of a step that makes other rows of the same records. */
const STEPS_VERSION = 2;

/** Column `enrichment`: code and lists, but for the geo data, which may change while we run. */
export function enrichmentVersion(lists: SourceLists): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([bots, lists]))
    .digest('hex')
    .slice(0, 8);
  return `steps-${STEPS_VERSION} ua-${UaParser.VERSION} lists-${hash}`;
}
