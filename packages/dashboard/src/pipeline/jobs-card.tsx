import type { Answer } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';

/** Imports, the replay, the archive and backups, with their progress. */
export function JobsCard() {
  const { t } = useTexts();
  const installation = useAdmin('showInstallation', { refresh: 15_000 });
  return (
    <section className="card section" aria-labelledby="jobs" data-testid="jobs">
      <h2 id="jobs">{t('jobs.title')}</h2>
      <QueryAnswer query={installation} lines={6}>
        {(data) => (
          <>
            <h3>{t('jobs.imports')}</h3>
            <Imports imports={data.imports} />
            <h3>{t('jobs.replay')}</h3>
            {data.replay === null ? <p className="note">{t('replay.none')}</p> : <Replay replay={data.replay} />}
            <h3>{t('jobs.archive')}</h3>
            <Archive archive={data.archive} />
            <h3>{t('jobs.backups')}</h3>
            {data.backup === null ? (
              <p className="note">{t(data.can_back_up ? 'backup.none' : 'backup.elsewhere')}</p>
            ) : (
              <Backup backup={data.backup} />
            )}
          </>
        )}
      </QueryAnswer>
    </section>
  );
}

type Installation = Answer<'showInstallation'>;

function Imports({ imports }: Pick<Installation, 'imports'>) {
  const { t, number, time } = useTexts();
  return (
    <DataTable
      label={t('jobs.imports')}
      rows={imports}
      none={<p className="note">{t('imports.none')}</p>}
      keyOf={({ site_id, file_digest }) => `${site_id} ${file_digest}`}
      columns={[
        { title: t('letters.site'), kind: 'name', hint: (one) => one.file_digest, cell: (one) => one.site_id },
        { title: t('imports.started'), fit: 'whole', cell: (one) => time(one.started_at, undefined, 'full') },
        { title: t('imports.lines'), kind: 'number', cell: (one) => number(one.lines_done) },
        { title: t('imports.hits'), kind: 'number', cell: (one) => number(one.hits_appended) },
        {
          title: t('minutes.state'),
          fit: 'sentence',
          cell: (one) => t(one.finished ? 'imports.finished' : 'imports.unfinished'),
        },
      ]}
    />
  );
}

function Archive({ archive }: Pick<Installation, 'archive'>) {
  const { t } = useTexts();
  if (archive === null) return <p className="note">{t('archive.off')}</p>;
  return (
    <>
      <ul className="plain-list">
        {archive.topics.map(({ topic, lag }) => (
          <li key={topic}>
            {topic} <b>{lag === 0 ? t('archive.complete') : t('archive.lag', { count: lag })}</b>
          </li>
        ))}
      </ul>
      {archive.topics.map(({ topic, last_error, alarm }) => {
        const problem = alarm ?? last_error;
        return problem !== null && <Problem key={topic} error={new Error(problem)} />;
      })}
      {archive.parquet_problem && <Problem error={new Error(archive.parquet_problem)} />}
    </>
  );
}

function Replay({ replay }: { readonly replay: NonNullable<Installation['replay']> }) {
  const { t, number, time } = useTexts();
  const done = replay.records_copied + replay.records_replayed;
  const all = replay.records_to_copy + replay.records_to_replay;
  return (
    <>
      <p>
        {t('replay.since', {
          from: replay.from,
          time: time(replay.started_at, undefined, 'full'),
          phase: t(`replay.${replay.phase}`),
        })}
      </p>
      {all > 0 && (
        <Progress
          label={t('jobs.replay')}
          done={done}
          all={all}
          text={t('replay.records', { done: number(done), all: number(all) })}
        />
      )}
      {replay.problem !== null && <Problem error={new Error(replay.problem)} />}
      {replay.refusal !== null && <Problem error={new Error(replay.refusal)} />}
    </>
  );
}

function Backup({ backup }: { readonly backup: NonNullable<Installation['backup']> }) {
  const { t, bytes, time } = useTexts();
  const { state, to, bytes_done: done, bytes_total: all } = backup;
  const at = time(backup.ended_at ?? backup.started_at, undefined, 'full');
  return (
    <>
      <p>{t(`backup.${state}`, { to, time: at })}</p>
      {state === 'running' && all > 0 && (
        <Progress
          label={t('jobs.backups')}
          done={done}
          all={all}
          text={t('replay.records', { done: bytes(done), all: bytes(all) })}
        />
      )}
      {backup.error !== null && <Problem error={new Error(backup.error)} />}
    </>
  );
}

interface ProgressProps {
  readonly label: string;
  readonly done: number;
  readonly all: number;
  readonly text: string;
}

function Progress({ label, done, all, text }: ProgressProps) {
  return (
    <div className="progress-line">
      <progress aria-label={label} max={all} value={done} /> <span>{text}</span>
    </div>
  );
}
