import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useOpened } from '@weir/testkit/use-opened';
import { ADMIN_TOKEN, openControlHarness } from '../../control/test/control-harness.ts';

/** Starts a control for the tests of a file. `env` has the settings with which the CLI calls it. */
export function useControl() {
  const weir = useOpened(openControlHarness);
  return {
    weir,
    env: {
      get WEIR_URL() {
        return weir.url;
      },
      WEIR_ADMIN_TOKEN: ADMIN_TOKEN,
    },
    /** Writes a file into the temporary folder of the harness, and returns its path. */
    file(name: string, bytes: string | Buffer): string {
      const path = join(weir.folder, name);
      writeFileSync(path, bytes);
      return path;
    },
  };
}
