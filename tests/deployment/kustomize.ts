import { join } from 'node:path';
import { parse } from 'yaml';
import { readYaml, readYamls } from './read-files.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; namespace?: string };
}

interface Kustomization {
  readonly namespace?: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly images?: readonly { readonly name: string; readonly newName?: string; readonly newTag?: string }[];
  readonly patches?: readonly {
    readonly target: { readonly kind: string; readonly name: string };
    readonly patch: string;
  }[];
}

interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

const KNOWN = ['apiVersion', 'kind', 'namespace', 'resources', 'components', 'images', 'patches'];

/**
 * Returns the manifests that `kustomize build` would print. Supports only the features of kustomize that infra/k8s uses, and throws on any other
 * feature.
 */
export function buildKustomization(folder: string, into: Manifest[] = []): Manifest[] {
  const kustomization = readYaml<Kustomization>(join(folder, 'kustomization.yaml'));
  const unknown = Object.keys(kustomization).filter((key) => !KNOWN.includes(key));
  if (unknown.length > 0) throw new Error(`${folder}: this reader does not support ${unknown.join(', ')}`);

  for (const resource of kustomization.resources ?? []) {
    const path = join(folder, resource);
    if (path.endsWith('.yaml')) into.push(...readYamls<Manifest>(path));
    else buildKustomization(path, into);
  }
  for (const component of kustomization.components ?? []) buildKustomization(join(folder, component), into);
  for (const { target, patch } of kustomization.patches ?? []) {
    const found = into.filter(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
    if (found.length === 0) throw new Error(`${folder}: no ${target.kind} ${target.name} to patch`);
    for (const manifest of found) for (const operation of parse(patch) as Operation[]) apply(manifest, operation);
  }
  for (const { name, newName, newTag } of kustomization.images ?? []) {
    replaceImages(into, name, `${newName ?? name}${newTag === undefined ? '' : `:${newTag}`}`);
  }
  if (kustomization.namespace !== undefined) {
    for (const { kind, metadata } of into) if (kind !== 'Namespace') metadata.namespace = kustomization.namespace;
  }
  return into;
}

function apply(manifest: Manifest, { op, path, value }: Operation): void {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop() ?? '';
  // biome-ignore lint/suspicious/noExplicitAny: a manifest is any JSON
  const parent = steps.reduce((at: any, step) => at?.[step], manifest);
  if (parent === undefined || (op !== 'add' && !(last in parent))) throw new Error(`no ${path} to ${op}`);
  if (op === 'remove') delete parent[last];
  else parent[last] = value;
}

function replaceImages(node: unknown, name: string, image: string): void {
  if (typeof node !== 'object' || node === null) return;
  const holder = node as { image?: unknown };
  if (holder.image === name) holder.image = image;
  for (const child of Object.values(node)) replaceImages(child, name, image);
}
