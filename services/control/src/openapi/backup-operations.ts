import { count, ENVELOPE, jsonResponse, object, orNull, successBody, text, time } from '@weir/runtime/http/openapi';
import { NEW_BACKUP } from '../backups/backups-route.ts';
import type { AdminOperation } from './admin-operations.ts';
import { publishBody } from './schemas/admin-request-schemas.ts';

export const BACKUP = object({
  to: text,
  state: { enum: ['running', 'done', 'failed'] },
  phase: orNull({ enum: ['tables', 'log', 'upload'] }),
  started_at: time,
  ended_at: orNull(time),
  bytes_done: count,
  bytes_total: count,
  bytes_stored: orNull({
    ...count,
    description: 'Compressed bytes that this backup added; earlier backups already stored the rest.',
  }),
  backup_id: orNull(text),
  error: orNull(text),
  failed_attempts: {
    ...count,
    description: 'The number of failed attempts at a scheduled backup since the last successful one.',
  },
  next_attempt_at: orNull({ ...time, description: 'After a failed attempt: the time of the next attempt.' }),
});
const CONFLICT = {
  409: jsonResponse('A backup is running, or this process stores no data of its own.', ENVELOPE),
};
const { to, keep } = NEW_BACKUP.properties;

export const BACKUP_OPERATIONS = {
  startBackup: {
    id: 'startBackup',
    summary: 'Start a backup of the data folder to a folder or a bucket, while Weir runs',
    request: publishBody({
      ...NEW_BACKUP,
      properties: {
        to: {
          ...to,
          pattern: '^(file:///.|s3://[a-z0-9])',
          description: 'file:///folder or s3://bucket/prefix; default: WEIR_BACKUP_TO',
        },
        keep: {
          ...keep,
          description:
            'Delete all backups in the target except this number of the newest ones; default: WEIR_BACKUP_KEEP if the target is WEIR_BACKUP_TO, otherwise no backup is deleted',
        },
      },
    }),
    responses: { 201: jsonResponse('The backup, which has begun.', successBody(BACKUP)), ...CONFLICT },
  },
  showBackup: {
    id: 'showBackup',
    summary: 'The running backup, or else the last backup since the start of the process; null if there was no backup',
    responses: { 200: jsonResponse('The backup.', successBody(orNull(BACKUP))), ...CONFLICT },
  },
} satisfies Record<string, AdminOperation>;
