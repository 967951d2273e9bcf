/**
 * `withFaults` calls this function twice for each call of a port's method. Before the effect of the call, `name` is the name of the method. If this
 * function throws then, the call has no effect. After the effect, `name` is `<method>:done`. If this function throws then, the caller sees an error,
 * although the call has had its effect. If this function returns a promise, the call waits for it. `about`: for appends, the topic; for commits, the
 * topic and the metadata; for other calls, an empty text.
 */
export type FaultPoint = (name: string, about: string) => void | Promise<void>;

export class Crash extends Error {
  override readonly name = 'Crash';
}

export interface CrashPoints {
  readonly point: (name: string) => void;
  /** The points that were reached, in order. */
  readonly passed: readonly string[];
  readonly crashed: boolean;
}

/** Simulates a crash at point number `at` (from 0): from then on every call of a wrapped port throws without an effect. */
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

export async function withFaults<T>(point: FaultPoint, name: string, effect: () => Promise<T>, about = ''): Promise<T> {
  const before = point(name, about);
  // Even an `await` of `undefined` changes the order of events. So only a promise is awaited.
  if (before !== undefined) await before;
  const result = await effect();
  const after = point(`${name}:done`, about);
  if (after !== undefined) await after;
  return result;
}
