#!/usr/bin/env node
// The `weir` command in a checkout: installs and builds if necessary, then runs the command.
import './prepare.mjs';

await import('../dist/weir.js');
