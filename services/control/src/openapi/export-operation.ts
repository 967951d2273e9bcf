import { EXPORT_KINDS } from '@weir/domain/dump/export-kinds';
import { ENVELOPE, jsonResponse, RETRY_AFTER, type Schema } from '@weir/runtime/http/openapi';
import { EXPORT_PARAMETERS } from '../reports/read-query.ts';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';
import { parametersOf } from './report-operations.ts';

const file: Schema = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } };

export const EXPORT_OPERATION = {
  id: 'exportSite',
  summary: 'Rows of a site as a file, or a dump of the site that can be imported',
  description: `kind is one of ${EXPORT_KINDS.join(', ')}. The answer is sent while it is computed: a connection that ends before the last chunk means an incomplete file.`,
  parameters: parametersOf(EXPORT_PARAMETERS),
  responses: {
    200: {
      description: 'The file.',
      content: { 'application/x-ndjson': file, 'text/csv': file, 'application/vnd.apache.parquet': file },
    },
    ...NOT_FOUND,
    503: jsonResponse('ClickHouse is not available, or too many exports are running.', ENVELOPE, RETRY_AFTER),
  },
} as const satisfies AdminOperation;
