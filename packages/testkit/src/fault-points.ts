/**
 * Called before each call of a decorated port, and after its effect (`name:done`). Throwing before means that the effect
 * never was; throwing after, that it was but the caller never learned.
 */
export type FaultPoint = (name: string) => void;

export class Crash extends Error {
  override readonly name = 'Crash';
}

export interface CrashPoints {
  readonly point: FaultPoint;
  /** The points passed, in order. */
  readonly passed: readonly string[];
  readonly crashed: boolean;
}

/** At the point number `at` (from 0) everything dies: from then on no decorated call has an effect. */
export function createCrashPoints(at: number): CrashPoints {
  const passed: string[] = [];
  let crashed = false;
  return {
    point(name) {
      if (!crashed) {
        crashed = passed.length === at;
        passed.push(name);
      }
      if (crashed) throw new Crash(name);
    },
    passed,
    get crashed() {
      return crashed;
    },
  };
}

export async function passing<T>(point: FaultPoint, name: string, effect: () => Promise<T>): Promise<T> {
  point(name);
  const result = await effect();
  point(`${name}:done`);
  return result;
}
