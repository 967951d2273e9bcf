import { type FunctionComponent, type ReactNode, useEffect, useState } from 'react';

/**
 * A component whose code is loaded when it is first shown. Until then, `waiting` is shown. If the code cannot be loaded, the component throws, and
 * loads its code again when it is mounted again. `lazy` would keep the error until the dashboard is reloaded. Also, React shows what `lazy` has
 * loaded at the earliest 300 ms after the fallback.
 */
export function late<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  waiting: ReactNode = null,
): FunctionComponent<Props> {
  let Loaded: FunctionComponent<Props> | undefined;
  return (props) => {
    const [, setLoaded] = useState(Loaded !== undefined);
    const [failure, setFailure] = useState<{ readonly error: unknown }>();
    useEffect(() => {
      if (Loaded !== undefined) return setLoaded(true);
      load().then(
        (component) => {
          Loaded = component;
          setLoaded(true);
        },
        (error: unknown) => setFailure({ error }),
      );
    }, []);
    if (failure !== undefined) throw failure.error;
    return Loaded === undefined ? waiting : <Loaded {...props} />;
  };
}
