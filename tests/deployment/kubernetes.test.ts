import { join } from 'node:path';
import { createSnippetRoutes } from '@weir/gateway/http/snippet-routes';
import { gatewayOpenApi } from '@weir/gateway/openapi/gateway-openapi';
import { loadConfig } from '@weir/runtime/config/config';
import { ROLES } from './compose.ts';
import { buildKustomization, type Manifest } from './kustomize.ts';
import { modelModule, typeProblems } from './manifest-types.ts';
import { ROOT, readSources, readYaml, readYamls } from './read-files.ts';
import { knownVariables } from './variables.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly args: readonly string[];
  readonly image: string;
  readonly envFrom: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests?: Record<string, string>; readonly limits?: Record<string, string> };
  readonly securityContext: Record<string, unknown>;
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels: Record<string, string> };
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Record<string, unknown>;
        readonly topologySpreadConstraints: readonly unknown[];
        readonly containers: readonly Container[];
      };
    };
  };
}

const folders = ['infra/k8s/base', 'infra/k8s/overlays/example'];
const secrets = readYamls<Manifest & { readonly stringData: Record<string, string> }>(
  'infra/k8s/base/secrets.example.yaml',
);
const base = buildKustomization('infra/k8s/base');
const overlay = buildKustomization('infra/k8s/overlays/example');
const named = <T>(manifests: readonly Manifest[], kind: string, name: string): T => {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} of ${kind} ${name}`);
  return found[0] as unknown as T;
};

describe.each(folders)('%s', (folder) => {
  const manifests = buildKustomization(folder);

  test.each(manifests.map((manifest): [string, Manifest] => [`${manifest.kind} ${manifest.metadata.name}`, manifest]))(
    'the schema of Kubernetes takes %s',
    (_name, manifest) => {
      const models = require(modelModule(manifest.apiVersion)) as Record<
        string,
        new (
          data: unknown,
        ) => { validate(): void }
      >;
      const Model = models[manifest.kind];
      if (Model === undefined) throw new Error(`no schema of ${manifest.apiVersion} ${manifest.kind}`);
      new Model(manifest).validate();
    },
  );

  test('no manifest has a field that its type does not have', () => {
    expect(typeProblems(manifests)).toBe('');
  });

  test('every object is in the namespace and exists once', () => {
    const ids = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { kind, metadata } of manifests) if (kind !== 'Namespace') expect(metadata.namespace).toBe('weir');
  });
});

test('a misspelled field is found', () => {
  const wrong = { ...named<Deployment>(base, 'Deployment', 'weir-gateway'), speck: {} };
  expect(typeProblems([wrong])).toContain('speck');
});

describe.each(ROLES)('%s', (role) => {
  const deployment = named<Deployment>(base, 'Deployment', `weir-${role}`);
  const { spec } = deployment.spec.template;
  const [container] = spec.containers as [Container];

  test('runs its role as an unprivileged user, with limits', () => {
    expect(container.args).toEqual([role]);
    expect(deployment.spec.selector.matchLabels).toEqual(deployment.spec.template.metadata.labels);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.any(String) },
      limits: { memory: expect.any(String) },
    });
    expect(spec.topologySpreadConstraints).toHaveLength(2);
  });

  test('has probes with paths and a port that exist', () => {
    const { data } = named<{ data: Record<string, string> }>(base, 'ConfigMap', 'weir-config');
    expect(container.ports).toEqual([{ name: 'http', containerPort: Number(data.PORT) }]);
    const paths = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(({ httpGet }) => {
      expect(httpGet.port).toBe('http');
      return httpGet.path;
    });
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
    const routes = readSources('services/gateway/src');
    for (const path of paths) expect(routes).toContain(`'${path}'`);
  });

  test('has enough time to drain, and a disruption budget', () => {
    const { data } = named<{ data: Record<string, string> }>(base, 'ConfigMap', 'weir-config');
    expect(spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(Number(data.WEIR_DRAIN_TIMEOUT_MS) + 10_000);
    const budget = named<{ spec: unknown }>(base, 'PodDisruptionBudget', `weir-${role}`);
    expect(budget.spec).toMatchObject({
      maxUnavailable: 1,
      selector: { matchLabels: deployment.spec.selector.matchLabels },
    });
  });

  test('reads its settings from the ConfigMap and from a Secret that the example lists without values', () => {
    expect(container.envFrom).toEqual([
      { configMapRef: { name: 'weir-config' } },
      { secretRef: { name: `weir-${role}` } },
    ]);
    const { stringData } = named<{ stringData: Record<string, string> }>(secrets, 'Secret', `weir-${role}`);
    expect(Object.values(stringData).every((value) => value === '')).toBe(true);
    for (const name of ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD', 'REDIS_URL'])
      expect(stringData).toHaveProperty(name);
    expect('CLICKHOUSE_URL' in stringData).toBe(role === 'writer' || role === 'control');
    expect('WEIR_ADMIN_TOKEN' in stringData).toBe(role === 'control');
  });
});

test('every variable is a setting of Weir', () => {
  const { data } = named<{ data: Record<string, string> }>(overlay, 'ConfigMap', 'weir-config');
  const given = [...Object.keys(data), ...secrets.flatMap(({ stringData }) => Object.keys(stringData))];
  expect(given.filter((name) => !knownVariables().has(name))).toEqual([]);
});

test.each(ROLES)('%s: Weir accepts the settings', (role) => {
  const { data } = named<{ data: Record<string, string> }>(overlay, 'ConfigMap', 'weir-config');
  const { stringData } = named<{ stringData: Record<string, string> }>(secrets, 'Secret', `weir-${role}`);
  const values: Record<string, string> = {
    ...{ KAFKA_SASL_USERNAME: 'weir', KAFKA_SASL_PASSWORD: 'p', REDIS_URL: 'rediss://weir:p@redis:6379' },
    ...{ CLICKHOUSE_URL: 'https://weir:p@c:8443', CLICKHOUSE_READER_URL: 'https://weir_reader:p@c:8443' },
    WEIR_ADMIN_TOKEN: 'x'.repeat(16),
  };
  const secret = Object.fromEntries(Object.keys(stringData).map((name) => [name, values[name] ?? '']));
  // Only a cluster has the mounted file, so the test names another existing file.
  const settings = { ...data, ...secret, KAFKA_TLS_CA_FILE: __filename };
  expect(() => loadConfig(settings, [role])).not.toThrow();
});

test('no Secret is part of a kustomization', () => {
  expect([...base, ...overlay].filter(({ kind }) => kind === 'Secret')).toEqual([]);
});

test('the gateway scales by CPU, the enricher by the lag of its group', () => {
  interface Scaler {
    readonly spec: {
      readonly scaleTargetRef: { readonly name: string };
      readonly metrics: readonly { readonly resource: { readonly name: string } }[];
      readonly maxReplicaCount: number;
      readonly triggers: readonly { readonly type: string; readonly metadata: Record<string, string> }[];
    };
  }
  const gateway = named<Scaler>(base, 'HorizontalPodAutoscaler', 'weir-gateway');
  expect(gateway.spec.scaleTargetRef.name).toBe('weir-gateway');
  expect(gateway.spec.metrics[0]?.resource.name).toBe('cpu');
  expect(named<Deployment>(base, 'Deployment', 'weir-gateway').spec.replicas).toBeUndefined();

  const enricher = named<Scaler>(overlay, 'ScaledObject', 'weir-enricher');
  const { data } = named<{ data: Record<string, string> }>(overlay, 'ConfigMap', 'weir-config');
  expect(enricher.spec.scaleTargetRef.name).toBe('weir-enricher');
  expect(enricher.spec.maxReplicaCount).toBe(Number(data.WEIR_PARTITIONS));
  expect(enricher.spec.triggers).toMatchObject([
    {
      type: 'kafka',
      metadata: {
        bootstrapServers: data.KAFKA_BROKERS,
        consumerGroup: `weir-enricher.${data.KAFKA_TOPIC_PREFIX}events.raw`,
        topic: `${data.KAFKA_TOPIC_PREFIX}events.raw`,
      },
    },
  ]);
  expect(named<Deployment>(overlay, 'Deployment', 'weir-enricher').spec.replicas).toBeUndefined();
});

test('the ingress routes exactly the public endpoints and all forms of the snippet', () => {
  interface Ingress {
    readonly spec: {
      readonly rules: readonly {
        readonly host: string;
        readonly http: { readonly paths: readonly { readonly path: string; readonly pathType: string }[] };
      }[];
    };
  }
  const { rules } = named<Ingress>(overlay, 'Ingress', 'weir').spec;
  const { data } = named<{ data: Record<string, string> }>(overlay, 'ConfigMap', 'weir-config');
  expect(rules.map(({ host }) => `https://${host}`)).toEqual([data.WEIR_PUBLIC_URL]);
  const paths = rules.flatMap(({ http }) => http.paths);
  expect(paths.filter(({ pathType }) => pathType !== 'Exact')).toEqual([]);

  const operations = gatewayOpenApi([]).paths as Record<string, Record<string, { readonly tags?: readonly string[] }>>;
  const ingestion = Object.keys(operations).filter((path) =>
    Object.values(operations[path] ?? {}).some(({ tags }) => tags?.includes('ingestion')),
  );
  const files = createSnippetRoutes(join(ROOT, 'dist/public')).stack;
  const snippets = files.map(({ route }) => route?.path ?? '').filter((path) => !path.startsWith('/demo'));
  expect(snippets).toContain('/weir.js');
  expect(paths.map(({ path }) => path).sort()).toEqual([...ingestion, ...snippets].sort());
});

test('the overlay sets the image', () => {
  const { images } = readYaml<{ images: { newName: string; newTag: string }[] }>(
    'infra/k8s/overlays/example/kustomization.yaml',
  );
  const image = `${images[0]?.newName}:${images[0]?.newTag}`;
  for (const role of ROLES) {
    expect(named<Deployment>(overlay, 'Deployment', `weir-${role}`).spec.template.spec.containers[0]?.image).toBe(
      image,
    );
  }
});
