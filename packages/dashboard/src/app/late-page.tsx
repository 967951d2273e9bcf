import { type FunctionComponent, lazy } from 'react';

/** One function for each page whose code could not be loaded: it makes the page load its code again. */
const failed: (() => void)[] = [];

/**
 * A component whose code is loaded when it is first shown. If this fails, for example because Weir is stopped, `loadFailedPagesAgain` allows another
 * try. `lazy` alone would keep the error until the dashboard is reloaded.
 */
export function latePage<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const loadOnce = () =>
    lazy(() =>
      load().then(
        (page) => ({ default: page as FunctionComponent<object> }),
        (error: unknown) => {
          failed.push(() => {
            Loaded = loadOnce();
          });
          throw error;
        },
      ),
    );
  let Loaded = loadOnce();
  return (props) => <Loaded {...props} />;
}

/** Call this while no failed page is shown. React renders a failed page several times, and each time would load the code again. */
export function loadFailedPagesAgain(): void {
  for (const prepare of failed.splice(0)) prepare();
}
