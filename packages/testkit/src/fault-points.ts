/**
 * Called before each call of a decorated port (`name`) and after its effect (`name:done`). If it throws before, the call has no
 * effect. If it throws after, the call has its effect, but the caller sees an error.
 */
export type FaultPoint = (name: string) => void;

export class Crash extends Error {
  override readonly name = 'Crash';
}

export interface CrashPoints {
  readonly point: FaultPoint;
  /** The points that were reached, in order. */
  readonly passed: readonly string[];
  readonly crashed: boolean;
}

/** Simulates a crash at point number `at` (from 0): from then on every decorated call throws without an effect. */
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

export async function withFaults<T>(point: FaultPoint, name: string, effect: () => Promise<T>): Promise<T> {
  point(name);
  const result = await effect();
  point(`${name}:done`);
  return result;
}
