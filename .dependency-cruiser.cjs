/** A rule: only files that match `path` may import this library. */
const home = (library, path) => ({
  name: `one-home-${library.replace(/\W+/g, '-')}`,
  comment: `${library} is named only in ${path}`,
  severity: 'error',
  from: { path: '^(packages|services)/', pathNot: path },
  to: { path: `node_modules/${library}/` },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^(packages|services)/[^/]+/src/', pathNot: '\\.d\\.ts$' },
      to: {},
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^packages/domain/src/' },
      to: { path: '^(packages|services)/', pathNot: '^packages/domain/' },
    },
    {
      name: 'domain-does-no-io',
      severity: 'error',
      from: { path: '^packages/domain/src/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|net|buffer|url)$' },
    },
    {
      name: 'ports-know-only-domain',
      severity: 'error',
      from: { path: '^packages/ports/src/' },
      to: { path: '^(packages|services)/', pathNot: '^packages/(domain|ports)/' },
    },
    {
      name: 'adapters-are-opened-in-one-place',
      severity: 'error',
      from: {
        path: '^(packages|services)/[^/]+/src/',
        pathNot: '^(packages/adapters/|services/host/src/ports/open-|services/cli/src/open-|packages/testkit/)',
      },
      to: { path: '^packages/adapters/src/' },
    },
    {
      name: 'services-do-not-import-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/', pathNot: '^services/host/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-do-not-import-services',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    {
      name: 'routes-and-steps-do-not-import-siblings',
      severity: 'error',
      from: { path: '^services/[^/]+/src/(?:routes|steps)/([^/]+)\\.ts$' },
      to: { path: '^services/[^/]+/src/(?:routes|steps)/', pathNot: '/$1\\.ts$' },
    },
    home('kafkajs', '^packages/adapters/src/kafka/'),
    home('ioredis', '^packages/adapters/src/redis/'),
    home('lmdb', '^packages/adapters/src/lmdb/'),
    home('fs-native-extensions', '^packages/runtime/src/native/file-lock'),
    home('koffi', '^packages/runtime/src/native/trim-memory'),
    home('@clickhouse/client', '^packages/adapters/src/clickhouse/'),
    home('chdb', '^packages/embedded-clickhouse/'),
    home('maxmind', '^services/enricher/src/geo/'),
    home('ua-parser-js', '^services/enricher/src/(user-agent|pipeline)/'),
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    // This parser cannot read JSX. The dashboard imports only its own files: `rootDir` of its tsconfig.json checks that.
    exclude: { path: '/(test|contract)/|^packages/dashboard/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
