import { installChromium } from './install-chromium.mjs';
import { installEngines } from './install-engines.mjs';
import { kafka } from './kafka.mjs';
import { redis } from './redis.mjs';

/** Jest's global set-up: with CI=true installs all that is missing, once and before any worker, as apt and Maven stand in each other's way. */
export default function installForCi() {
  if (process.env.CI !== 'true') return;
  for (const install of [() => kafka.install(), () => redis.install(), installChromium, installEngines]) install();
}
