import { createHash } from 'node:crypto';
import type { SourceLists } from '@weir/domain/acquisition/source';
import { RECORDS_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import UaParser from 'ua-parser-js';
import bots from '../../lists/bots.json';

/**
 * Increase this number when a changed step makes other rows from the same records. For a new column, increase the version of the column
 * list instead.
 */
const STEPS_VERSION = 10;

/** The version of the code, and of the lists of bots and sources. The geo data has its own version, because it can change while Weir runs. */
export function enrichmentVersion(lists: SourceLists): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([bots, lists]))
    .digest('hex')
    .slice(0, 8);
  return `steps-${STEPS_VERSION}.${RECORDS_COLUMNS_VERSION} ua-${UaParser.VERSION} lists-${hash}`;
}
