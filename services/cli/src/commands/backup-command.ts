import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkErasedList, type ErasedList, readErasedList } from '@weir/backup/erased-list';
import { restoreBackup, verifyBackup } from '@weir/backup/restore-backup';
import { listSnapshots, type Snapshot, timeOfSnapshot } from '@weir/backup/snapshot';
import { isDependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import { shellWord } from '@weir/runtime/config/shell-word';
import type { Command } from 'commander';
import type { CliIo } from '../cli-io.ts';
import { type CommandContext, groupOf, withExamples } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { dropWriterCommits, eraseAgainIn } from '../open-backup.ts';
import { objectsUrl, placeName, withObjects } from '../open-objects.ts';
import { fields, print } from '../output.ts';
import { patientCall } from '../patient-call.ts';
import { createLaterProgress } from '../progress-bar.ts';
import { readWholeNumber } from '../read-whole-number.ts';

interface BackupView {
  readonly started_at: string;
  readonly to: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly phase: string | null;
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly bytes_stored: number | null;
  readonly backup_id: string | null;
  readonly error: string | null;
}

const POLL_EVERY_MS = 500;
const MB = 1_000_000;

const NOTES = `
A backup has the tables, the event log and the registry: sites, rules, and the hashes of API keys. It does not have the keys that
decrypt client IPs, the admin token, or the state store, which Weir rebuilds from the log. It has the identity secrets of the sites
in plain text, so protect it. Data that an earlier backup in the same place has is not stored again.
<place> is a folder, file:///folder, or s3://bucket/prefix (settings: S3_ENDPOINT, S3_REGION, S3_PATH_STYLE). Weir itself makes a
backup, so a folder after create is on the machine of Weir. verify, list and restore run in this command.`;

const stopped = (): CliError =>
  new CliError('interrupted; Weir continues the backup: see weir backup status', EXIT.interrupted);

export function addBackupCommands(program: Command, { io, client }: CommandContext): void {
  const backup = groupOf(
    program,
    'backup',
    'back up the data folder while Weir runs, and restore it',
    'weir backup create /mnt/backups',
  );
  backup.addHelpText('afterAll', NOTES);

  withExamples(
    backup.command('create <place>').description('make a backup; it continues if this command is interrupted'),
    'weir backup create /mnt/backups --keep 7',
    'weir backup create s3://backups/weir',
  )
    .option('-k, --keep <number>', 'delete all backups except this number of the newest ones', readWholeNumber(99_999))
    .action(async (place: string, { json, keep }: { json?: boolean; keep?: number }) => {
      const admin = client();
      const interrupted = io.interruption();
      const to = objectsUrl(place);
      let view = await admin.call<BackupView>('POST', '/backups', { to, ...(keep === undefined ? {} : { keep }) });
      await withProgress(io, async (report, say) => {
        while (view.state === 'running') {
          await pauseUnlessAborted(POLL_EVERY_MS, interrupted);
          if (interrupted.aborted) throw stopped();
          // Weir may be restarting. The backup is then lost, and the call returns null, or a later backup.
          const current = await patientCall(() => admin.call<BackupView | null>('GET', '/backups/current'), {
            clock: io.clock,
            onWait: (reason) => say(`waiting: ${reason}`),
            interrupted,
            stopped,
          });
          if (current === null) {
            throw new CliError('Weir restarted, so the backup was not completed: start it again', EXIT.failed);
          }
          if (current.started_at !== view.started_at) {
            const list = `weir backup list ${shellWord(place)}`;
            const lost = `Weir made another backup since then, so this command cannot see whether its own was completed: ${list} shows the completed ones`;
            throw new CliError(lost, EXIT.failed);
          }
          view = current;
          report(view.bytes_done, view.bytes_total);
        }
      });
      if (view.state === 'failed') throw new CliError(`the backup failed: ${view.error}`, EXIT.failed);
      print(
        io,
        json,
        view,
        (done) =>
          `Backup ${done.backup_id}: ${size(done.bytes_done)}, of which ${size(done.bytes_stored ?? 0)} had to be stored.`,
      );
    });

  withExamples(
    backup.command('status').description('print the running backup, or the last one'),
    'weir backup status',
  ).action(async ({ json }: { json?: boolean }) => {
    const view = await client().call<BackupView | null>('GET', '/backups/current');
    print(io, json, view, (current) =>
      current === null ? 'No backup since the start of Weir.' : fields({ ...current }),
    );
  });

  withExamples(
    backup.command('list <place>').description('print the backups of a place, oldest first'),
    'weir backup list /mnt/backups',
  ).action(async (place: string, { json }: { json?: boolean }) => {
    const ids = await withObjects(objectsUrl(place), io.env, listSnapshots);
    print(io, json, ids, (found) => (found.length === 0 ? `no backups in ${placeName(place)}` : found.join('\n')));
  });

  withExamples(
    backup.command('verify <place>').description('read every byte of a backup and compare it with its checksums'),
    'weir backup verify /mnt/backups',
    'weir backup verify s3://backups/weir --id 20261122T030000Z',
  )
    .option('--id <backup_id>', 'default: the newest')
    .action(async (place: string, { json, id }: { json?: boolean; id?: string }) => {
      const snapshot = await withObjects(objectsUrl(place), io.env, async (objects) => {
        const wanted = id ?? (await newestIn(objects, place));
        return withProgress(io, (onProgress) => verifyBackup({ objects, id: wanted, onProgress }));
      });
      print(io, json, summary(snapshot), () => `Backup ${snapshot.id} is complete and undamaged.`);
    });

  withExamples(
    backup
      .command('restore <place> <folder>')
      .description('write a backup into an empty folder; start Weir on it with WEIR_DATA_DIR'),
    'weir backup restore /mnt/backups ./restored && WEIR_DATA_DIR=./restored npm start',
  )
    .option('--id <backup_id>', 'default: the newest')
    .option('--erased <file>', 'the newest output of weir forget --list --json; the persons in it are erased again')
    .option(
      '--nothing-erased',
      'confirm that no person was erased after the backup, if the place has no list of erasures',
    )
    .action(async (place: string, folder: string, { json, id, erased, nothingErased }: RestoreOptions) => {
      const into = resolve(folder);
      const named = erased === undefined ? undefined : readList(erased);
      const [restored, lists] = await withObjects(objectsUrl(place), io.env, async (objects) => {
        if (`${into}/`.startsWith(`${placeName(place)}/`)) {
          throw new CliError(
            `${into} is in ${placeName(place)}, the place of the backups: name a folder outside`,
            EXIT.usage,
          );
        }
        const wanted = id ?? (await newestIn(objects, place));
        const listed = await readErasedList(objects);
        if (listed === undefined && named === undefined && nothingErased !== true) {
          throw new CliError(NO_LIST, EXIT.usage);
        }
        const found = [listed, named].filter((list) => list !== undefined);
        const finish = async (part: string, { id: made }: Snapshot): Promise<number> => {
          await dropWriterCommits(part);
          const tombstones = found.flatMap((list) => list.tombstones);
          return eraseAgainIn(part, tombstones, timeOfSnapshot(made));
        };
        const done = await withProgress(io, (onProgress) =>
          restoreBackup({ objects, id: wanted, into, onProgress, finish }),
        );
        return [done, found] as const;
      });
      const { snapshot, finished: again } = restored;
      const until = lists.length === 0 ? null : new Date(Math.max(...lists.map(({ at }) => at))).toISOString();
      print(io, json, { ...summary(snapshot), folder: into, erasures_again: again, erasures_until: until }, () =>
        [
          `Backup ${snapshot.id} is restored. Start Weir on it: WEIR_DATA_DIR=${shellWord(into)} npm start`,
          `${again} erasures that the tables of the backup lack are carried out at the start, before Weir serves anything.`,
          'If Weir has an archive, the archiver stops until its segments that are newer than the backup are moved away: see docs/operations.md, "The archive after a restore".',
          'Sites, API keys and viewers are as they were at the time of the backup: revoke or remove again what was revoked or removed after it.',
          ...(until === null ? [] : [`Erasures after ${until} are not known: ask for them again.`]),
        ].join('\n'),
      );
    });
}

async function newestIn(objects: ObjectStore, place: string): Promise<string> {
  const newest = (await listSnapshots(objects)).at(-1);
  if (newest === undefined) throw new CliError(`there is no backup in ${placeName(place)}`);
  return newest;
}

interface RestoreOptions {
  readonly json?: boolean;
  readonly id?: string;
  readonly erased?: string;
  readonly nothingErased?: boolean;
}

const NO_LIST =
  'this place has no list of erasures, so persons who were erased after the backup would come back: name the list with --erased <file> (weir forget --list --json > <file>), or give --nothing-erased';

function readList(file: string): ErasedList {
  try {
    return checkErasedList(JSON.parse(readFileSync(file, 'utf8')), file);
  } catch (error) {
    const reason = isDependencyError(error) ? error.message : `cannot read ${file}: ${(error as Error).message}`;
    throw new CliError(reason, EXIT.usage);
  }
}

function summary({ id, createdAt, items }: Snapshot): object {
  const bytes = items.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes, 0);
  return { backup_id: id, created_at: createdAt, bytes };
}

/** Runs `work`. Its first argument shows the progress: the bytes that are done, and all bytes. Its second argument prints a line. */
async function withProgress<T>(
  io: CliIo,
  work: (report: (done: number, total: number) => void, say: (line: string) => void) => Promise<T>,
): Promise<T> {
  const progress = createLaterProgress(io, 'MB', 0);
  const report = (done: number, total: number): void => {
    if (total > 0) progress.update(Math.ceil(done / MB), Math.ceil(total / MB));
  };
  try {
    return await work(report, progress.say);
  } finally {
    progress.stop();
  }
}

const size = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;
