import {
  count,
  jsonResponse,
  nullableText,
  object,
  orNull,
  type Schema,
  schemaRef,
  successBody,
  text,
  texts,
  time,
} from '@weir/runtime/http/openapi';
import { MINUTES_MAX } from '../pipeline/minute-books-route.ts';
import { AUDITED_DAYS_MAX } from '../routes/audit-reports-route.ts';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';
import { BACKUP } from './backup-operations.ts';
import { IMPORT_PROGRESS } from './schemas/status-schemas.ts';

const list = (items: Schema): Schema => ({ type: 'array', items });

const MINUTE = object({
  minute: time,
  received: count,
  outcomes: { type: 'object', description: 'Records by outcome.', additionalProperties: count },
  balanced: { type: 'boolean', description: 'Whether the sums of this minute agree with the stored records.' },
});

const COMPARED_DAY = object({
  site_id: text,
  day: { type: 'string', format: 'date', description: 'In UTC.' },
  reports: { ...count, description: 'The number of reports that were compared.' },
  differing: { ...texts, description: 'The reports whose numbers differ.' },
});

const INSTALLATION = object({
  disks: {
    ...list(
      object({ name: text, free_bytes: count, total_bytes: count, reserve_bytes: count, is_full: { type: 'boolean' } }),
    ),
    description:
      'The disks to which the process with the control role writes. While less than its reserve is free on the disk of the data folder, nothing is accepted. While this is true only for the disk of its folder `clickhouse`, events are accepted, and the embedded ClickHouse refuses inserts.',
  },
  engines: list(object({ engine: text, checked_at: orNull(time), drift: texts })),
  archive: orNull(
    object({
      topics: list(object({ topic: text, lag: count, last_error: nullableText, alarm: nullableText })),
      parquet_problem: { ...nullableText, description: 'Why the export of Parquet files fails or waits.' },
    }),
  ),
  imports: { ...list(IMPORT_PROGRESS), description: 'Imports that are not finished, then the newest: at most 20.' },
  replay: orNull(schemaRef('Replay')),
  backup: {
    ...orNull(BACKUP),
    description: 'The running backup, or else the last one since the start of the process.',
  },
  can_back_up: { type: 'boolean', description: 'Whether this process stores data of its own.' },
});

export const INSTALLATION_OPERATIONS = {
  listMinuteBooks: {
    id: 'listMinuteBooks',
    summary:
      'The records of the last minutes by outcome, and whether the sums of each minute agree with the stored records',
    parameters: [
      { name: 'minutes', in: 'query', schema: { type: 'integer', minimum: 1, maximum: MINUTES_MAX, default: 60 } },
    ],
    responses: {
      200: jsonResponse('The minutes.', successBody(object({ balanced: { type: 'boolean' }, minutes: list(MINUTE) }))),
    },
  },
  auditReports: {
    id: 'auditReports',
    summary: 'Compare the reports of some random days from the rollup with the same reports from the stored rows',
    parameters: [
      { name: 'site', in: 'query', description: 'Only this site.', schema: { type: 'string' } },
      {
        name: 'days',
        in: 'query',
        description: 'The number of days of each site.',
        schema: { type: 'integer', minimum: 1, maximum: AUDITED_DAYS_MAX, default: 3 },
      },
    ],
    responses: {
      200: jsonResponse(
        'The days that were compared.',
        successBody(object({ agree: { type: 'boolean' }, compared: list(COMPARED_DAY) })),
      ),
      ...NOT_FOUND,
    },
  },
  showInstallation: {
    id: 'showInstallation',
    summary:
      'Disks, settings of engines that differ from what Weir needs, imports, the replay, the archive and the backup',
    responses: { 200: jsonResponse('The installation.', successBody(INSTALLATION)) },
  },
} satisfies Record<string, AdminOperation>;
