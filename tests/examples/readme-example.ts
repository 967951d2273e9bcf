import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

const LINES_MAX = 5;

/** Returns the only example in README for this language, with the URL of this Weir. It may have at most five lines that are not blank. */
export function readmeExample(language: 'html' | 'js' | 'sh' | 'python', url: string): string {
  const readme = readFileSync(join(PROJECT_ROOT, 'README.md'), 'utf8');
  const found = [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
  const code = found[0]?.[1];
  if (code === undefined || found.length > 1) throw new Error(`README has ${found.length} examples in ${language}`);
  const lines = code.split('\n').filter((line) => line.trim() !== '').length;
  if (lines > LINES_MAX) throw new Error(`README's ${language} example has ${lines} lines`);
  if (!code.includes('http://127.0.0.1:8080'))
    throw new Error(`README's ${language} example does not contain http://127.0.0.1:8080`);
  return code.replaceAll('http://127.0.0.1:8080', url);
}
