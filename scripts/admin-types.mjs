// Turns the admin API's part of the OpenAPI document into TypeScript: one line for each operation and each schema. Replaces the package
// openapi-typescript, which needs the JavaScript API of TypeScript 5: the compiler of this repository does not have this API.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ADMIN_TYPES_FILE = join(
  dirname(fileURLToPath(import.meta.url)),
  '../packages/dashboard/src/api/admin-types.ts',
);
const PREFIX = '/api/admin';
const METHODS = ['get', 'post', 'patch', 'put', 'delete'];

/** Returns the text of the file with the types, for an OpenAPI 3.1 document. */
export function adminTypes(document) {
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith(`${PREFIX}/`))
    .flatMap(([path, methods]) =>
      METHODS.filter((method) => methods[method] !== undefined).map((method) => ({
        method: method.toUpperCase(),
        path: path.slice(PREFIX.length),
        operation: methods[method],
      })),
    );
  const needed = new Map();
  const lines = operations.map(({ operation }) => `  ${operation.operationId}: ${operationType(operation)};`);
  for (const text of lines) collect(text);
  return `${[
    '// Generated from the OpenAPI document by scripts/generate-admin-types.mjs. Do not edit.',
    '',
    '/** Method and path of each operation of the admin API, relative to /api/admin. */',
    'export const OPERATIONS = {',
    ...operations.map(({ method, path, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],`),
    '} as const;',
    '',
    '/** The query parameters, the body and the data of the answer of each operation. */',
    'export interface Operations {',
    ...lines,
    '}',
    '',
    ...[...needed.keys()].sort().map((name) => `type ${name} = ${needed.get(name)};`),
  ].join('\n')}\n`;

  function collect(text) {
    for (const name of Object.keys(document.components.schemas)) {
      if (needed.has(name) || !new RegExp(`\\b${name}\\b`).test(text)) continue;
      needed.set(name, '');
      const type = typeOf(document.components.schemas[name]);
      needed.set(name, type);
      collect(type);
    }
  }
}

function operationType(operation) {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const fields = query.map(({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}`);
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const success = Object.entries(operation.responses).filter(([status]) => /^2/.test(status));
  const answers = success.map(([, { content }]) => content?.['application/json']?.schema?.properties?.data);
  const data = [...new Set(answers.map((schema) => (schema === undefined ? 'unknown' : typeOf(schema))))];
  return `{ query: { ${fields.join('; ')} }; body: ${body === undefined ? 'undefined' : typeOf(body)}; data: ${data.join(' | ')} }`;
}

/** The TypeScript type of a JSON Schema. A schema without a type is `unknown`. */
function typeOf(schema) {
  if (schema === undefined || typeof schema === 'boolean') return 'unknown';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return schema.enum.length > 40 ? 'string' : union(schema.enum.map((value) => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    const { anyOf: _any, oneOf: _one, ...base } = schema;
    if (base.type === 'string') return 'string';
    return base.properties === undefined
      ? union(choices.map(typeOf))
      : `${objectType(base)} & (${union(choices.map(typeOf))})`;
  }
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })));
  switch (schema.type) {
    case 'array':
      return `readonly ${wrap(typeOf(schema.items))}[]`;
    case 'integer':
      return 'number';
    case 'object':
      return objectType(schema);
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return schema.properties === undefined ? 'unknown' : objectType(schema);
  }
}

function objectType({ properties, required = [], additionalProperties }) {
  if (properties === undefined) {
    return `Readonly<Record<string, ${additionalProperties === undefined ? 'unknown' : typeOf(additionalProperties)}>>`;
  }
  const fields = Object.entries(properties).map(
    ([name, schema]) => `readonly ${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  return `{ ${fields.join('; ')} }`;
}

const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
/** Literals beside `string` are left out: to TypeScript, the type is the same without them. */
const union = (types) => {
  const isLiterals = (type) => /^"[^"]*"(?: \| "[^"]*")*$/.test(type);
  return [...new Set(types.includes('string') ? types.filter((type) => !isLiterals(type)) : types)].join(' | ');
};
const wrap = (type) => (/^[\w]+$/.test(type) ? type : `(${type})`);
