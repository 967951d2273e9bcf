import { installChromium } from './install-chromium.mjs';
import { installEngines } from './install-engines.mjs';
import { installFaketime } from './install-faketime.mjs';
import { installLanguages } from './install-languages.mjs';
import { kafka } from './kafka.mjs';
import { redis } from './redis.mjs';
import { s3 } from './s3.mjs';

/**
 * The global setup of Jest. With CI=true it installs missing programs once, before any worker starts, because apt and Maven
 * cannot run concurrently.
 */
export default function installForCi() {
  if (process.env.CI !== 'true') return;
  for (const install of [
    () => kafka.install(),
    () => redis.install(),
    () => s3.install(),
    installChromium,
    installEngines,
    installFaketime,
    installLanguages,
  ])
    install();
}
