// Writes the column lists of `events.enriched` to docs/topics.md and to its JSON schema: `node --import tsx scripts/generate-columns.mjs`.
// A test fails if one of these files is not current.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { ENRICHED_SCHEMA, enrichedSchema, TOPICS_PAGE, topicsPage } from './enriched-columns.mjs';

writeFileSync(TOPICS_PAGE, topicsPage(readFileSync(TOPICS_PAGE, 'utf8')));
writeFileSync(
  ENRICHED_SCHEMA,
  JSON.stringify(enrichedSchema(JSON.parse(readFileSync(ENRICHED_SCHEMA, 'utf8'))), undefined, 2),
);
const { status } = spawnSync('node_modules/.bin/biome', ['format', '--write', ENRICHED_SCHEMA], { stdio: 'inherit' });
process.exitCode = status ?? 1;
