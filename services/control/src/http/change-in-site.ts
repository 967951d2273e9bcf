import type { Site } from '@weir/domain/registry/site';
import type { Registry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, notFound, type Reply } from './admin-reply.ts';
import type { AdminRequest } from './admin-route.ts';

interface ChangeDeps extends Pick<AdminDeps, 'runExclusive'> {
  readonly registry: Pick<Registry, 'site' | 'readToEnd'>;
}

/**
 * Answers a request that changes the site of its path, or something in it: 404 if the site does not exist, 400 if the body is invalid, otherwise what
 * `change` returns. `change` can compare with the registry: no other change of the registry by this process runs at the same time, and this process
 * has read the changes that other processes stored before.
 */
export function changeInSite<Body>(
  { registry, runExclusive }: ChangeDeps,
  { params, body }: AdminRequest<Body>,
  change: (site: Site, value: Body) => Promise<Reply>,
): Promise<Reply> {
  return runExclusive(async () => {
    // Without this, a change could be based on an old row of the site, and would undo what another process has just changed.
    await registry.readToEnd();
    // The site may have been removed while this request waited.
    const site = registry.site(params.site_id ?? '');
    if (site === undefined) return notFound('site');
    if ('problem' in body) return invalid(body.problem);
    return change(site, body.value);
  });
}
