import { type Action, actionProblem, type Goal } from '@weir/domain/registry/goal';
import type { AdminDeps } from '../../control-deps.ts';
import { formatTime } from '../../format-time.ts';
import { conflict, created, fullSite, invalid, notFound, ok, type Reply } from '../../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../../http/admin-route.ts';
import { changeInSite } from '../../http/change-in-site.ts';
import { randomId } from '../../registry/random-id.ts';

/**
 * The maximum number of goals of a site. A statement has one parameter for each goal, and more for filters. `userQuery`
 * accepts at most 100 parameters.
 */
const GOALS_PER_SITE_MAX = 50;

interface NewGoal extends Action {
  readonly name?: string;
}

export function listGoals({ registry }: AdminDeps, { site: { siteId } }: SiteRequest): Reply {
  return ok(registry.goals(siteId).map(goalView));
}

export function createGoal(deps: AdminDeps, request: AdminRequest<NewGoal>): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async ({ siteId }, { type, value, name = value }) => {
    const problem = actionProblem({ type, value });
    if (problem !== undefined) return invalid(problem);
    const goals = registry.goals(siteId);
    const same = goals.find((goal) => goal.type === type && goal.value === value);
    if (same !== undefined) return conflict(`the site has this goal already: ${same.goalId}, ${type} ${value}`);
    if (goals.length >= GOALS_PER_SITE_MAX) return fullSite(GOALS_PER_SITE_MAX, 'goals');
    const goal: Goal = { goalId: randomId('goal', randomBytes), siteId, name, type, value, createdAt: clock() };
    await registry.putGoal(goal);
    return created(goalView(goal));
  });
}

export function removeGoal({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', goal_id: goalId = '' } = params;
    if (!registry.goals(siteId).some((goal) => goal.goalId === goalId)) return notFound('goal');
    await registry.removeGoal(siteId, goalId);
    return ok({ goal_id: goalId, removed: true });
  });
}

function goalView({ goalId, siteId, name, type, value, createdAt }: Goal): object {
  return { goal_id: goalId, site_id: siteId, name, type, value, created_at: formatTime(createdAt) };
}
