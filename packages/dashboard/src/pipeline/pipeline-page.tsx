import { usePageTitle } from '../app/page-title.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { BooksCard } from './books-card.tsx';
import { ClientAddress } from './client-address.tsx';
import { ConsumersCard } from './consumers-card.tsx';
import { DeadLettersCard } from './dead-letters-card.tsx';
import { InstallationCard } from './installation-card.tsx';
import { JobsCard } from './jobs-card.tsx';

/** For operators: lag, errors, dead letters, the books (docs/glossary.md), long tasks, engines, disks, and how client addresses are found. */
export function PipelinePage() {
  const { t } = useTexts();
  usePageTitle(t('nav.pipeline'));
  return (
    <>
      <header className="page-head">
        <h1>{t('nav.pipeline')}</h1>
      </header>
      <ConsumersCard />
      <DeadLettersCard />
      <BooksCard />
      <JobsCard />
      <InstallationCard />
      <ClientAddress />
    </>
  );
}
