import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { AdminError, callAdmin } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Form } from '../ui/form.tsx';
import { useProblemText } from '../ui/states.tsx';
import { Logo } from './logo.tsx';
import { usePageTitle } from './page-title.ts';

const focus = (input: HTMLInputElement | null) => input?.focus();

/** Exchanges the admin token, or the token of a viewer, for a session cookie. The token itself is not kept. */
export function SignIn() {
  const { t } = useTexts();
  const client = useQueryClient();
  const problemText = useProblemText();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  usePageTitle(t('signIn.submit'));

  const textOf = (error: Error): string => {
    if (error instanceof AdminError && error.status === 401) return t('signIn.wrong');
    if (error instanceof AdminError && error.status === 429) {
      return t('signIn.limited', { count: error.retryAfterSeconds ?? 60 });
    }
    return problemText(error);
  };
  const signIn = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      client.setQueryData(['readSession'], await callAdmin('createSession', { body: { token: token.trim() } }));
    } catch (error) {
      setProblem(textOf(error as Error));
      setBusy(false);
    }
  };
  return (
    <main className="sign-in">
      <Form className="card" onSubmit={() => void signIn()}>
        <Logo />
        <h1>{t('signIn.title')}</h1>
        <label htmlFor="token">{t('signIn.token')}</label>
        <input
          id="token"
          // Also if a session has ended: the control that had the focus is gone.
          ref={focus}
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
          aria-describedby="token-hint"
          aria-invalid={problem !== undefined}
        />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" className="button primary" disabled={isBusy}>
          {t('signIn.submit')}
        </button>
        <p id="token-hint" className="note">
          {t('signIn.hint')}
        </p>
      </Form>
    </main>
  );
}
