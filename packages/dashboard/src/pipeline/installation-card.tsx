import type { Answer } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from '../ui/icon.tsx';
import { QueryAnswer } from '../ui/states.tsx';

type Installation = Answer<'showInstallation'>;

/** The free space of the disks, and the settings of engines with which Weir could lose records or store them twice. */
export function InstallationCard() {
  const { t } = useTexts();
  const installation = useAdmin('showInstallation', { refresh: 15_000 });
  return (
    <section className="card section" aria-labelledby="installation" data-testid="installation">
      <h2 id="installation">{t('installation.title')}</h2>
      <QueryAnswer query={installation} lines={4}>
        {({ disks, engines }) => (
          <>
            <Disks disks={disks} />
            <Engines engines={engines} />
          </>
        )}
      </QueryAnswer>
    </section>
  );
}

function Disks({ disks }: Pick<Installation, 'disks'>) {
  const { t, bytes } = useTexts();
  return (
    <>
      <h3>{t('disk.title')}</h3>
      {disks.length === 0 && <p className="note">{t('disk.none')}</p>}
      {disks.map((disk) => (
        <div key={disk.name} className="progress-line">
          <p>
            <b>{disk.name}</b> {t('disk.free', { free: bytes(disk.free_bytes), total: bytes(disk.total_bytes) })}{' '}
            <span className="muted">{t('disk.reserve', { reserve: bytes(disk.reserve_bytes) })}</span>
          </p>
          <progress
            aria-label={t('disk.used', { name: disk.name })}
            max={disk.total_bytes}
            value={disk.total_bytes - disk.free_bytes}
          />
          {disk.is_full && (
            <p role="alert" className="state stuck">
              <Icon name="warning" size={16} /> {t('disk.full')}
            </p>
          )}
        </div>
      ))}
    </>
  );
}

function Engines({ engines }: Pick<Installation, 'engines'>) {
  const { t, time } = useTexts();
  return (
    <>
      <h3>{t('engines.title')}</h3>
      {engines.length === 0 && <p className="note">{t('engines.none')}</p>}
      {engines.map(({ engine, checked_at, drift }) => (
        <div key={engine}>
          <p className={drift.length === 0 ? undefined : 'state stuck'} {...(drift.length > 0 && { role: 'alert' })}>
            <b>{engine}</b>{' '}
            {checked_at === null
              ? t('engines.unchecked')
              : t(drift.length === 0 ? 'engines.right' : 'engines.drift', {
                  time: time(checked_at, undefined, 'full'),
                })}
          </p>
          {drift.length > 0 && (
            <ul>
              {drift.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          )}
        </div>
      ))}
    </>
  );
}
