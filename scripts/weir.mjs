#!/usr/bin/env node
// The `weir` command of a checkout: installs and builds when it has to, then runs it.
import './prepare.mjs';

await import('../dist/weir.js');
