import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';

// Node loads this module in each of its JavaScript threads, before the program of the thread. The link belongs to the thread that reads it, so it
// names this thread: `<process>/task/<thread>`. The names of threads in /proc would not help: all threads of Node have the same name.
const thread = basename(readlinkSync('/proc/thread-self'));
const program = basename(process.argv[1] ?? '', '.js');
process.stderr.write(`bench thread ${thread} ${isMainThread ? 'main' : 'worker'} ${program}\n`);
