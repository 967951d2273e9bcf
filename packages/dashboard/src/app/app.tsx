import { useTexts } from '../i18n/text-context.tsx';
import { Loading, Problem } from '../ui/states.tsx';
import { Pages } from './pages.tsx';
import { useSession } from './session.ts';
import { SignIn } from './sign-in.tsx';

/** The sign-in, or the pages. */
export function App() {
  const { t } = useTexts();
  const session = useSession();
  if (session.data === null) return <SignIn />;
  if (session.data !== undefined) return <Pages session={session.data} />;
  return (
    <main className="alone" aria-label={t('loading')}>
      {session.error ? <Problem error={session.error} onRetry={() => void session.refetch()} /> : <Loading />}
    </main>
  );
}
