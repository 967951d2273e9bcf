import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The examples in the section Identity verification of this page are run in each language that is installed. */
const PAGE = readFileSync('docs/people-and-money.md', 'utf8');
/** HMAC-SHA256 of the text '42' with the key 'wis_test'. identity-signature.test.ts checks that Weir accepts this value. */
const SIGNATURE = '5b2f8a4cf89e7dcd6ec4800ad0e4234f1b1bba7f42b10c50373e09ce54233b08';

const LANGUAGES: readonly (readonly [string, string, readonly string[], (code: string) => string])[] = [
  ['js', 'node', ['--input-type=module', '-'], (code) => `const userId = '42';\n${code}\nconsole.log(signature);`],
  ['python', 'python3', ['-'], (code) => `user_id = '42'\n${code}\nprint(signature)`],
  ['php', 'php', [], (code) => `<?php $userId = '42';\n${code}\necho $signature;`],
  ['ruby', 'ruby', ['-'], (code) => `user_id = '42'\n${code}\nputs signature`],
];

for (const [language, program, args, whole] of LANGUAGES) {
  const isInstalled = spawnSync(program, ['--version']).status === 0;
  (isInstalled ? test : test.skip)(`${language} signs as the gateway checks (skipped without ${program})`, () => {
    const code = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(PAGE)?.[1] ?? '';
    expect(code).not.toBe('');
    const env = { ...process.env, WEIR_IDENTITY_SECRET: 'wis_test' };
    const { stdout, stderr } = spawnSync(program, args, { input: whole(code), env, encoding: 'utf8' });
    expect([stdout.trim(), stderr]).toEqual([SIGNATURE, '']);
  });
}
