// Debian's Firefox and WebKitGTK, with a screen for it, for tests/browser/engines.test.ts.
import { aptInstall } from './apt-install.mjs';

aptInstall(['firefox-esr', 'webkit2gtk-driver', 'xvfb']);
