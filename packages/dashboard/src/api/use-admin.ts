import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  type QueryKey,
  type QueryMeta,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { AdminError, type Answer, type CallInput, callAdmin, type OperationId } from './call-admin.ts';
import { type PauseLimits, refreshPause } from './refresh-pause.ts';

const TIMINGS_MAX = 500;
const RETRIES_MAX = 2;
/** An answer that is newer than this is not requested again, for example by another component. */
const STALE_MS = 10_000;

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    queryCache: new QueryCache({
      // A 404 can mean that the site was removed. Requests the list of sites again, so that the pages of a removed site close. Without an answer,
      // requests the session again, so that the page says at once that its numbers may be old.
      onError: (error, { queryKey: [id] }) => {
        const status = error instanceof AdminError ? error.status : undefined;
        const further = status === 404 ? 'listSites' : status === 0 ? 'readSession' : id;
        if (further !== id) void client.invalidateQueries({ queryKey: [further] }, { cancelRefetch: false });
      },
    }),
    // With `always`, requests are sent also while the browser is offline, because Weir can run on the same machine, and errors are shown at once. In
    // the default mode, the page would wait without a message, and would send a change later, when the browser is online.
    defaultOptions: {
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        staleTime: STALE_MS,
        // A hidden page sends no requests. When it is shown again, it repeats each query whose pause has passed.
        refetchOnWindowFocus: ({ state: { data, dataUpdatedAt }, queryKey, meta }) =>
          data !== undefined && Date.now() - dataUpdatedAt >= pauseOf(queryKey, meta),
        retry: (count, error) => count < RETRIES_MAX && error instanceof AdminError && error.status === 503,
        retryDelay: (_, error) => ((error instanceof AdminError && error.retryAfterSeconds) || 1) * 1_000,
      },
    },
  });
  return client;
}

/** How long the last request of each query took, in milliseconds, also if it failed. */
const timings = new Map<string, number>();

/** The pause after the answer of a query. It depends on how long the answer took (docs/decisions/0052). */
function pauseOf(key: QueryKey, meta: QueryMeta | undefined, isError = false): number {
  const refresh = (meta?.refresh ?? true) as NonNullable<Options<OperationId>['refresh']>;
  if (typeof refresh === 'number') return refresh;
  const text = JSON.stringify(key);
  return refreshPause(
    text,
    { tookMs: timings.get(text) ?? 0, isError },
    typeof refresh === 'boolean' ? undefined : refresh,
  );
}

/** Whether the answer is 400, for example because the report takes too long. Weir would refuse the same request again. */
const isRefused = (error: unknown): boolean => error instanceof AdminError && error.status === 400;

interface Options<Id extends OperationId> extends Omit<CallInput<Id>, 'signal'> {
  readonly enabled?: boolean;
  /**
   * Repeats the query while the page is visible, after a pause in milliseconds. A number is a fixed pause, for queries that are cheap or must show
   * a fault soon. With limits, or with `true` for the default limits, the pause depends on how long the last answer took.
   */
  readonly refresh?: boolean | number | PauseLimits;
  /** The query is not repeated after an answer for which this function returns true. */
  readonly until?: (data: Answer<Id>) => boolean;
  /**
   * Sends the request while the component renders. The effects of its children run before its own, so without this option, the children
   * would send their requests first.
   */
  readonly first?: boolean;
  /** After a change of the parameters, shows the former answer until the new answer has arrived. */
  readonly keep?: boolean;
}

const adminKey = <Id extends OperationId>(id: Id, { path, query, body }: Omit<CallInput<Id>, 'signal'>) =>
  [id, path ?? {}, query ?? {}, ...(body === undefined ? [] : [body])] as const;

/**
 * Queries the admin API. The call is cancelled when no component needs its answer any more. An operation with a body may be used only if it
 * changes nothing.
 */
export function useAdmin<Id extends OperationId>(id: Id, options: Options<Id> = {}) {
  const { enabled = true, refresh = false, first = false, keep = false, until, path = {}, query, body } = options;
  const input = { path, ...(query && { query }), ...(body !== undefined && { body }) };
  const key = adminKey(id, input);
  const text = JSON.stringify(key);
  const client = useQueryClient();
  const isLast = (data: Answer<Id> | undefined): boolean => data !== undefined && until?.(data) === true;
  const queryFn = async ({ signal }: { readonly signal: AbortSignal }): Promise<Answer<Id>> => {
    const began = performance.now();
    try {
      return await callAdmin(id, { ...input, signal });
    } finally {
      if (timings.size >= TIMINGS_MAX) timings.clear();
      timings.set(text, performance.now() - began);
    }
  };
  if (first && enabled && client.getQueryState(key) === undefined)
    void client.prefetchQuery({ queryKey: key, queryFn });
  return useQuery<Answer<Id>, Error>({
    queryKey: key,
    enabled,
    queryFn,
    ...(until && { staleTime: ({ state: { data } }) => (isLast(data) ? Number.POSITIVE_INFINITY : STALE_MS) }),
    ...(keep && { placeholderData: keepPreviousData }),
    ...(refresh !== false && {
      meta: { refresh },
      refetchInterval: ({ state: { status, data, error }, queryKey, meta }) =>
        isLast(data) || isRefused(error) ? false : pauseOf(queryKey, meta, status === 'error'),
    }),
  });
}

/**
 * Requests the answers of an operation again. The first request of an answer may have been sent before the change. TanStack Query does not replace
 * it, so a second request follows it.
 */
async function requestAgain(client: QueryClient, id: OperationId): Promise<void> {
  const isFirst = client.isFetching({ queryKey: [id], predicate: ({ state }) => state.data === undefined }) > 0;
  await client.invalidateQueries({ queryKey: [id] });
  if (isFirst) await client.invalidateQueries({ queryKey: [id] });
}

/**
 * A call that changes something. After the call, the page requests the answers of the operations in `invalidates` again. `same`: an operation that
 * has the same path as the call and gives an equal answer. The answer of the call replaces its cached answer at once. So the page shows the change
 * even if the request for a new answer fails. `onAnswer` is called with the answer of the call at once, before the other answers are requested again.
 */
export function useChange<Id extends OperationId>(
  id: Id,
  invalidates: readonly OperationId[] = [],
  same?: OperationId,
  onAnswer?: (data: Answer<Id>) => void,
) {
  const client = useQueryClient();
  return useMutation<Answer<Id>, Error, CallInput<Id>>({
    mutationFn: (input) => callAdmin(id, input),
    onSuccess: (data, { path = {} }) => {
      if (same !== undefined) client.setQueryData(adminKey(same, { path }), data);
      onAnswer?.(data);
    },
    // The answers are requested again also after a failure, because a call without an answer may have changed something.
    onSettled: () => Promise.all(invalidates.map((one) => requestAgain(client, one))),
  });
}
