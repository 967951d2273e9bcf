import { installChromium } from './install-chromium.mjs';
import { installEngines } from './install-engines.mjs';
import { installLanguages } from './install-languages.mjs';
import { kafka } from './kafka.mjs';
import { redis } from './redis.mjs';
import { s3 } from './s3.mjs';

/** Jest's global setup: with CI=true installs what is missing, once, before any worker starts: apt and Maven cannot run concurrently. */
export default function installForCi() {
  if (process.env.CI !== 'true') return;
  for (const install of [
    () => kafka.install(),
    () => redis.install(),
    () => s3.install(),
    installChromium,
    installEngines,
    installLanguages,
  ])
    install();
}
