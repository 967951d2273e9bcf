// Writes the dashboard's types of the admin API: `node --import tsx scripts/generate-admin-types.mjs`. A test fails if the file is
// not current.
import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../services/host/src/openapi-document.ts';
import { ADMIN_TYPES_FILE, adminTypes } from './admin-types.mjs';

writeFileSync(ADMIN_TYPES_FILE, adminTypes(openApiDocument([])));
