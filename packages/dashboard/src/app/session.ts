import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { AdminError, type Answer, callAdmin, onSignedOut } from '../api/call-admin.ts';
import { clearHistory } from '../sql/sql-history.ts';

export type Session = Answer<'readSession'>;

/** How often an open page asks whether Weir answers and the session still exists. A report can be shown for minutes before it is requested again. */
const ASK_EVERY_MS = 15_000;
const ANSWER_WITHIN_MS = 10_000;

const isSignedOut = (error: unknown): boolean => error instanceof AdminError && error.status === 401;

/** The session of this browser. Null: no user is signed in. Undefined: Weir has not answered yet. */
export function useSession() {
  const client = useQueryClient();
  useEffect(() => onSignedOut(() => client.setQueryData(['readSession'], null)), [client]);
  return useQuery<Session | null, Error>({
    queryKey: ['readSession'],
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state: { data } }) => (data === null ? false : ASK_EVERY_MS),
    queryFn: async () => {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      try {
        return await callAdmin('readSession', { signal });
      } catch (error) {
        if (isSignedOut(error)) return null;
        throw signal.aborted ? new AdminError(0, 'offline') : error;
      }
    },
  });
}

/**
 * Returns a function that ends the session in this browser, or all sessions everywhere. It also removes all answers from memory, and the SQL
 * statements from the browser's storage.
 */
export function useSignOut() {
  const client = useQueryClient();
  return async (everywhere: boolean) => {
    try {
      await callAdmin(everywhere ? 'endSessions' : 'endSession');
    } catch (error) {
      // The answer 401 means that the session has already ended. Its data in the browser must be removed too.
      if (!isSignedOut(error)) throw error;
    }
    clearHistory();
    // An answer from before the sign-out would bring the session back.
    await client.cancelQueries({ queryKey: ['readSession'] });
    client.setQueryData(['readSession'], null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'readSession' });
  };
}
