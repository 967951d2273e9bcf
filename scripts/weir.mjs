#!/usr/bin/env node
// The command `weir` in a checkout. Installs and builds if necessary, then runs the command.
import './prepare.mjs';

await import('../dist/weir.js');
