import { compileExclusions, type ExclusionSubject, excludedBy } from '@weir/domain/exclusion/exclusion';
import { normalizeIp } from '@weir/domain/net/ip-address';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';

interface TestedHit {
  readonly ip?: string;
  readonly path?: string;
  readonly hostname?: string;
  readonly country?: string;
  readonly user_agent?: string;
  readonly visitor_id?: string;
}

/** Answers which exclusion rule would drop a hit. Nothing is stored or counted. */
export async function testExclusions(
  deps: AdminDeps,
  { site: { siteId }, body }: SiteRequest<TestedHit>,
): Promise<Reply> {
  const { registry, judgeBot, locate } = deps;
  if ('problem' in body) return invalid(body.problem);
  const { ip: sentIp = '', path = '', hostname = '', user_agent: userAgent, visitor_id: visitorId = '' } = body.value;
  const ip = normalizeIp(sentIp);
  if (ip === '' && sentIp !== '') return invalid('ip must be an IP address');
  const located = ip === '' ? undefined : (await locate(ip)).place?.country;
  const subject: ExclusionSubject = {
    ...{ ip, pathname: path, hostname, visitorId, userAgent: userAgent ?? '' },
    country: (body.value.country ?? located ?? '').toUpperCase(),
    // A real hit without a user agent counts as a bot. In this test, a missing user agent means that the test ignores it.
    bot: userAgent === undefined ? '' : judgeBot(userAgent),
  };
  const rule = compileExclusions(registry.exclusions(siteId))?.(subject);
  return ok({
    dropped: rule !== undefined,
    reason: rule === undefined ? null : excludedBy(rule),
    rule: rule === undefined ? null : { rule_id: rule.ruleId, type: rule.type, value: rule.value },
    country: subject.country,
    bot: subject.bot,
  });
}
