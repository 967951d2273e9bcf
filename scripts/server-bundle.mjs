/** Packages with native code stay in node_modules. All others are bundled: the bundle loads in a third of the time. */
const NATIVE = ['lmdb', 'lz4-napi', '@node-rs/crc32', 'chdb', 'fs-native-extensions', 'koffi'];
/** Defines `require` in the ESM bundle, because bundled CommonJS packages load Node's modules with it. */
const REQUIRE =
  "import { createRequire as weirCreateRequire } from 'node:module'; const require = weirCreateRequire(import.meta.url);";

/** The options of esbuild for the programs of Weir that run on Node. `root`: the folder of the project. */
export const serverBundle = (root, outdir) => ({
  absWorkingDir: root,
  entryPoints: {
    main: 'services/host/src/main.ts',
    'gateway-process': 'services/host/src/gateways/gateway-process.ts',
    'pipeline-worker': 'services/host/src/thread/pipeline-worker.ts',
    weir: 'services/cli/src/weir-main.ts',
    'clickhouse-server': 'packages/embedded-clickhouse/src/clickhouse-server.ts',
  },
  outdir,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'linked',
  banner: { js: REQUIRE },
  external: NATIVE,
  splitting: true,
  mainFields: ['module', 'main'],
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});
