import { useDeferredValue, useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { Link } from '../app/link.tsx';
import { navigate, useSearchInAddress } from '../app/location.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { Pager } from '../ui/pager.tsx';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, QueryAnswer } from '../ui/states.tsx';
import { Avatar } from './avatar.tsx';
import { peoplePath, usePersonInAddress } from './person-address.ts';
import { PersonPage } from './person-page.tsx';
import { traitText } from './trait-text.ts';

const PAGE_ROWS = 50;
const TRAITS_SHOWN = 3;

/** The identified users of a site, or one person if the address names one. */
export function PeoplePage() {
  const person = usePersonInAddress();
  return person === undefined ? <PeopleList /> : <PersonPage key={JSON.stringify(person)} person={person} />;
}

function PeopleList() {
  const { t, number, time } = useTexts();
  const site = useSite();
  const search = useSearchInAddress();
  const word = useDeferredValue(search.trim());
  const [shown, setShown] = useState({ search, page: 1 });
  const page = shown.search === search ? shown.page : 1;
  const body = { search: word, limit: PAGE_ROWS, page };
  const people = useAdmin('searchPeople', { path: { site_id: site.site_id }, body, keep: true });
  usePageTitle(t('nav.people'), site.name);
  return (
    <>
      <header className="page-head">
        <h1>{t('nav.people')}</h1>
        <SearchField
          isWide
          charsMax={255}
          label={t('people.search')}
          placeholder={t('people.placeholder')}
          value={search}
          onSearch={(text) => navigate(peoplePath(site.site_id, text), { replace: true })}
        />
      </header>
      <section className="card section" aria-label={t('nav.people')}>
        <QueryAnswer query={people} queryKey={['searchPeople']} lines={8}>
          {(data) =>
            data.people.length === 0 ? (
              <NoPeople word={word} />
            ) : (
              <>
                <ScrollBox label={t('nav.people')}>
                  <table className={people.isPlaceholderData ? 'table old' : 'table'} data-testid="people">
                    <thead>
                      <tr>
                        <th scope="col">{t('people.person')}</th>
                        <th scope="col">{t('people.traits')}</th>
                        <th scope="col" className="number">
                          {t('people.visitors')}
                        </th>
                        <th scope="col">{t('people.firstSeen')}</th>
                        <th scope="col">{t('people.lastSeen')}</th>
                      </tr>
                    </thead>
                    <tbody>
                      {data.people.map((one) => (
                        <tr key={one.profile_id}>
                          <th scope="row">
                            <Link
                              href={peoplePath(site.site_id, search, { user_id: one.user_id })}
                              className="person-link"
                            >
                              <Avatar name={one.name || one.email || one.user_id} />
                              <span className="person-names">
                                <span className="cut">{one.name || one.email || one.user_id}</span>
                                <span className="cut note">
                                  {[one.name && one.email, one.user_id].filter(Boolean).join(' · ')}
                                </span>
                              </span>
                            </Link>
                          </th>
                          <td className="long traits">
                            {Object.entries(one.traits)
                              .slice(0, TRAITS_SHOWN)
                              .map(([name, value]) => (
                                <span key={name} className="tag">
                                  {name}: {traitText(value)}
                                </span>
                              ))}
                          </td>
                          <td className="number">{number(one.visitor_ids.length)}</td>
                          <td className="whole">{time(one.first_seen_at, site.timezone, 'week')}</td>
                          <td className="whole">{time(one.last_seen_at, site.timezone, 'full')}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </ScrollBox>
                <Pager page={page} hasMore={data.has_more} onPage={(next) => setShown({ search, page: next })} />
              </>
            )
          }
        </QueryAnswer>
      </section>
    </>
  );
}

function NoPeople({ word }: { readonly word: string }) {
  const { t } = useTexts();
  const { site_id } = useSite();
  if (word === '') {
    return (
      <Empty title={t('people.none')}>
        <p className="note">{t('people.noneHint')}</p>
        <code>{"weir.identify('user-42', { email: 'ada@example.com', plan: 'pro' })"}</code>
      </Empty>
    );
  }
  return (
    <Empty title={t('nothing')}>
      <p className="note">{t('people.nothingHint')}</p>
      <Link href={peoplePath(site_id, word, { visitor_id: word })}>{t('people.showVisitor', { id: word })}</Link>
    </Empty>
  );
}
