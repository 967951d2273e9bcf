import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useChange } from '../api/use-admin.ts';
import { Link } from '../app/link.tsx';
import { useSearchInAddress } from '../app/location.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/states.tsx';
import { type PersonId, peoplePath } from './person-address.ts';
import { traitText } from './trait-text.ts';

interface Props {
  readonly data: Answer<'readTimeline'>;
  readonly person: PersonId;
  /** The visitors that were unlinked on this page, as long as the profile still contains them. */
  readonly unlinking: readonly string[];
  readonly onUnlinked: (visitorId: string) => void;
}

/** The fields, traits and visitors of a person. The link between a visitor and the user can be removed. */
export function PersonFacts({ data: { profile }, person, unlinking, onUnlinked }: Props) {
  const { t, time } = useTexts();
  const site = useSite();
  const search = useSearchInAddress();
  const unlink = useChange('unlinkVisitor', ['readTimeline', 'searchPeople']);
  const [asked, setAsked] = useState<string>();
  if (profile === null) {
    return (
      <section className="card section" aria-labelledby="person-profile">
        <h2 id="person-profile">{t('person.profile')}</h2>
        <p className="note">{t('person.anonymous')}</p>
      </section>
    );
  }
  const facts: readonly (readonly [name: string, value: string])[] = [
    [t('person.userId'), profile.user_id],
    [t('person.email'), profile.email],
    [t('person.name'), profile.name],
    [t('person.image'), profile.image],
    [t('people.firstSeen'), time(profile.first_seen_at, site.timezone, 'full')],
    [t('people.lastSeen'), time(profile.last_seen_at, site.timezone, 'full')],
  ];
  const traits = Object.entries(profile.traits);
  return (
    <section className="card section" aria-labelledby="person-profile" data-testid="profile">
      <h2 id="person-profile">{t('person.profile')}</h2>
      <dl className="person-fields">
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <h3>{t('people.traits')}</h3>
      {traits.length === 0 && <p className="note">{t('noneAtAll')}</p>}
      <dl className="person-fields">
        {traits.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{traitText(value)}</dd>
          </div>
        ))}
      </dl>
      <h3>{t('people.visitors')}</h3>
      {profile.visitor_ids.length === 0 && <p className="note">{t('person.noVisitors')}</p>}
      <ul className="plain-list" data-testid="visitors">
        {profile.visitor_ids.map((id) => (
          <li key={id}>
            <Link className="cut" href={peoplePath(site.site_id, search, { visitor_id: id })} title={id}>
              <code>{id}</code>
            </Link>
            {unlinking.includes(id) ? (
              <span className="note" role="status">
                {t('person.unlinking')}
              </span>
            ) : (
              <button
                type="button"
                className="button small"
                aria-label={t('person.unlinkName', { id })}
                onClick={() => setAsked(id)}
              >
                {t('person.unlink')}
              </button>
            )}
          </li>
        ))}
      </ul>
      {unlink.error && <Problem error={unlink.error} />}
      {'visitor_id' in person && <Link href={peoplePath(site.site_id, search, profile)}>{t('person.showUser')}</Link>}
      {asked !== undefined && (
        <ConfirmDialog
          removes
          title={t('person.unlinkTitle', { id: asked })}
          text={t('person.unlinkText')}
          action={t('person.unlink')}
          onConfirm={() =>
            unlink.mutate(
              { path: { site_id: site.site_id }, body: { visitor_id: asked, user_id: profile.user_id } },
              { onSuccess: () => onUnlinked(asked) },
            )
          }
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}
