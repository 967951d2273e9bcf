import { objectStoreUrlProblem } from '@weir/domain/net/object-store-url';
import type { AdminDeps } from '../control-deps.ts';
import { busy, conflict, created, invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';

export const NEW_BACKUP = {
  type: 'object',
  properties: {
    to: { type: 'string', minLength: 1, maxLength: 1024 },
    keep: { type: 'integer', minimum: 1, maximum: 10_000 },
  },
  additionalProperties: false,
} as const;

const NOT_EMBEDDED =
  'this process stores no data of its own: back up Kafka and ClickHouse with their own tools (docs/operations.md, Backups)';

/** Starts a backup. It continues if the caller disconnects. */
export function startBackup({ backups }: AdminDeps, { body }: AdminRequest<{ to?: string; keep?: number }>): Reply {
  if ('problem' in body) return invalid(body.problem);
  if (backups === undefined) return conflict(NOT_EMBEDDED);
  const to = body.value.to ?? backups.defaults.to;
  if (to === undefined) return invalid('to is required: file:///folder or s3://bucket/prefix, or set WEIR_BACKUP_TO');
  const problem = objectStoreUrlProblem(to);
  if (problem !== undefined) return invalid(`to ${problem}`);
  // WEIR_BACKUP_KEEP applies only to WEIR_BACKUP_TO. Backups in other places are deleted only if the request has `keep`.
  const keep = body.value.keep ?? (to === backups.defaults.to ? backups.defaults.keep : undefined);
  const started = backups.start({ to, keep });
  return started === undefined ? busy('a backup is running: wait until it has ended') : created(started);
}

/** Answers with the running backup, or else with the last one, even if it failed. Null if this process has begun no backup. */
export function showBackup({ backups }: AdminDeps): Reply {
  return backups === undefined ? conflict(NOT_EMBEDDED) : ok(backups.current() ?? null);
}
