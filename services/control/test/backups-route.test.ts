import type { BackupRequest } from '../src/backups/backup-control.ts';
import { startBackup } from '../src/backups/backups-route.ts';
import type { AdminDeps } from '../src/control-deps.ts';

/** Returns the backup that a request starts if WEIR_BACKUP_TO is file:///daily and WEIR_BACKUP_KEEP is 7. */
function startedBy(body: { to?: string; keep?: number }): BackupRequest | undefined {
  let started: BackupRequest | undefined;
  const backups = {
    start(request: BackupRequest) {
      started = request;
    },
    current: () => undefined,
    defaults: { to: 'file:///daily', keep: 7 },
  };
  startBackup({ backups } as never as AdminDeps, { body: { value: body } } as never);
  return started;
}

test('WEIR_BACKUP_KEEP deletes backups only in WEIR_BACKUP_TO', () => {
  expect(startedBy({})).toEqual({ to: 'file:///daily', keep: 7 });
  expect(startedBy({ to: 'file:///daily' })).toEqual({ to: 'file:///daily', keep: 7 });
  expect(startedBy({ to: 'file:///monthly' })).toEqual({ to: 'file:///monthly', keep: undefined });
  expect(startedBy({ to: 'file:///monthly', keep: 3 })).toEqual({ to: 'file:///monthly', keep: 3 });
});
