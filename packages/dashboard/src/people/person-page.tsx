import { useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { Link } from '../app/link.tsx';
import { useSearchInAddress } from '../app/location.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { Empty, QueryAnswer } from '../ui/states.tsx';
import { Avatar } from './avatar.tsx';
import { ErasureReceipt } from './erasure-receipt.tsx';
import { ForgetDialog } from './forget-dialog.tsx';
import { idOf, type PersonId, peoplePath } from './person-address.ts';
import { PersonFacts } from './person-facts.tsx';
import { PersonPayments } from './person-payments.tsx';
import { PersonTimeline } from './person-timeline.tsx';
import { SavePerson } from './save-person.tsx';

const PAGE_EVENTS = 100;
/** While a link is being removed, the page repeats its request this long after each answer. */
const UNLINKING_MS = 1_000;
/** If the profile still contains an unlinked visitor after this time, the page assumes that an identify has linked the visitor again. */
const UNLINKING_MS_MAX = 180_000;

/** One person: its profile, visits and events in order, payments, and what an operator can do with its data. */
export function PersonPage({ person }: { readonly person: PersonId }) {
  const { t } = useTexts();
  const site = useSite();
  const search = useSearchInAddress();
  const [page, setPage] = useState(1);
  const [unlinked, setUnlinked] = useState<readonly { readonly id: string }[]>([]);
  const [isForgetting, setForgetting] = useState(false);
  const [erasureId, setErasureId] = useState<string>();
  const path = { site_id: site.site_id };
  const body = { ...person, limit: PAGE_EVENTS, page };
  const timeline = useAdmin('readTimeline', {
    path,
    body,
    keep: true,
    enabled: erasureId === undefined,
    refresh: unlinked.length > 0 && UNLINKING_MS,
  });
  const profile = timeline.data?.profile;
  // Removes a visitor from `unlinked` as soon as the profile does not contain it. If an identify links the visitor again, it can be unlinked again.
  const unlinking = unlinked.filter(({ id }) => profile?.visitor_ids.includes(id));
  if (unlinking.length < unlinked.length) setUnlinked(unlinking);
  const addUnlinked = (id: string) => {
    // The entry is an object and not the ID, because the same visitor can be linked and unlinked again before the time is over.
    const one = { id };
    setUnlinked((now) => [...now, one]);
    setTimeout(() => setUnlinked((now) => now.filter((other) => other !== one)), UNLINKING_MS_MAX);
  };
  const title = profile?.name || profile?.email || idOf(person);
  usePageTitle(t('nav.people'), site.name);
  return (
    <>
      <header className="page-head person-head">
        <Link href={peoplePath(site.site_id, search)} className="back">
          ← {t('nav.people')}
        </Link>
        <div className="person-title">
          <Avatar name={title} />
          <h1>{title}</h1>
        </div>
        {erasureId === undefined && (
          <div className="actions">
            <SavePerson person={person} />
            <button type="button" className="button danger" onClick={() => setForgetting(true)}>
              {t('person.forget')}
            </button>
          </div>
        )}
      </header>
      {erasureId !== undefined ? (
        <ErasureReceipt erasureId={erasureId} />
      ) : (
        <QueryAnswer query={timeline} queryKey={['readTimeline']} lines={10}>
          {(data) =>
            data.profile === null && data.events.length === 0 && page === 1 ? (
              <Empty title={t('person.unknown')}>
                <p className="note">{t('person.unknownHint')}</p>
              </Empty>
            ) : (
              <div className={timeline.isPlaceholderData ? 'person old' : 'person'}>
                <div className="person-side">
                  <PersonFacts
                    data={data}
                    person={person}
                    unlinking={unlinking.map(({ id }) => id)}
                    onUnlinked={addUnlinked}
                  />
                  <PersonPayments payments={data.payments} />
                </div>
                <PersonTimeline data={data} page={page} onPage={setPage} />
              </div>
            )
          }
        </QueryAnswer>
      )}
      {isForgetting && (
        <ForgetDialog
          person={person}
          onBegun={(id) => {
            setForgetting(false);
            setErasureId(id);
          }}
          onClose={() => setForgetting(false)}
        />
      )}
    </>
  );
}
