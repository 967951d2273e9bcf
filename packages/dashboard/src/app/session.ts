import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { AdminError, type Answer, callAdmin, onSignedOut } from '../api/call-admin.ts';
import { clearHistory } from '../sql/sql-history.ts';

export type Session = Answer<'readSession'>;

const isSignedOut = (error: unknown): boolean => error instanceof AdminError && error.status === 401;

/** The session of this browser. Null: no user is signed in. Undefined: Weir has not answered yet. */
export function useSession() {
  const client = useQueryClient();
  useEffect(() => onSignedOut(() => client.setQueryData(['readSession'], null)), [client]);
  return useQuery<Session | null, Error>({
    queryKey: ['readSession'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      try {
        return await callAdmin('readSession');
      } catch (error) {
        if (isSignedOut(error)) return null;
        throw error;
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
    client.setQueryData(['readSession'], null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'readSession' });
  };
}
