import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './kustomize.ts';
import { ROOT } from './read-files.ts';

/** Returns the module that has the types of an API version such as `apps/v1`: a module of kubernetes-models, or of its package for KEDA. */
export function modelModule(apiVersion: string): string {
  return apiVersion.startsWith('keda.sh/')
    ? `@kubernetes-models/keda/${apiVersion}`
    : `kubernetes-models/${apiVersion}`;
}

/**
 * Writes the manifests as TypeScript objects with their Kubernetes types. Returns the errors of the compiler. The compiler finds unknown fields,
 * which the JSON Schemas in kubernetes.test.ts allow.
 */
export function typeProblems(manifests: readonly Manifest[]): string {
  const dir = mkdtempSync(join(ROOT, 'node_modules/.manifests-'));
  try {
    const lines = manifests.flatMap((manifest, index) => {
      const { apiVersion, kind, metadata } = manifest;
      return [
        `import type { I${kind} as T${index} } from '${modelModule(apiVersion)}';`,
        `// ${kind} ${metadata.name}`,
        `export const m${index}: T${index} = ${JSON.stringify(manifest)};`,
      ];
    });
    writeFileSync(join(dir, 'manifests.ts'), `${lines.join('\n')}\n`);
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const args = [tsc, '--ignoreConfig', ...flags, '--types', '', 'manifests.ts'];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' });
    return status === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
