import { Ajv, type ErrorObject, type JSONSchemaType } from 'ajv';

// Weir needs two defaults of Ajv. Ajv stops at the first error: a hostile body can have 450,000 errors. Ajv does not convert
// types: "5" is not a number. `verbose` gives `problemOf` the schema of the field that is wrong.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, verbose: true });
/** What a text with a `pattern` must be. Messages name it instead of the pattern, because site owners read them too. */
const RULE = 'x-rule';
ajv.addVocabulary([RULE]);

export type Checked<T> = { readonly value: T } | { readonly problem: string };

interface BodySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
}

/**
 * Compiles the validation of a body. A top-level field with the value `null` counts as absent (docs/api.md), unless the schema
 * allows `null`.
 */
export function compileBody<T>(schema: object): (body: object) => Checked<T> {
  const validate = ajv.compile<T>(schema as JSONSchemaType<T>);
  const { properties = {} } = schema as BodySchema;
  const isNullable = (name: string): boolean =>
    Object.hasOwn(properties, name) && [properties[name]?.type].flat().includes('null');
  return (body) => {
    const value: unknown = Object.fromEntries(
      Object.entries(body).filter(([name, field]) => field !== null || isNullable(name)),
    );
    if (validate(value)) return { value };
    return { problem: problemOf(validate.errors?.[0]) };
  };
}

function problemOf(error: ErrorObject | undefined): string {
  if (error === undefined) return 'the body is invalid';
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return `${path === '' ? '' : `${path}.`}${String(params.missingProperty)} is required`;
    case 'pattern':
      // The pattern \S requires a character other than white space: a name that contains only white space counts as missing.
      if (params.pattern === '\\S') return `${path} is required`;
      return `${path} must ${ruleOf(error) ?? `match ${String(params.pattern)}`}`;
    case 'enum':
      return `${path} must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'additionalProperties':
      return `${path === '' ? '' : `${path}.`}${String(params.additionalProperty)} is not a known field`;
    case 'minLength':
      return `${path} must not be empty`;
    case 'maxLength':
      return `${path} must be at most ${String(params.limit)} chars`;
    case 'type':
      return `${path === '' ? 'the body' : path} must be ${[params.type].flat().join(' or ')}`;
    case 'minItems':
      return `${path} must have at least ${counted(params.limit)}`;
    case 'maxItems':
      return `${path} must have at most ${counted(params.limit)}`;
    case 'uniqueItems':
      return `${path} must not have an item twice`;
    default:
      return `${path === '' ? 'the body' : path} ${error.message ?? 'is invalid'}`;
  }
}

const counted = (limit: unknown): string => `${String(limit)} ${limit === 1 ? 'item' : 'items'}`;

function ruleOf({ parentSchema }: ErrorObject): string | undefined {
  const rule: unknown = parentSchema?.[RULE];
  return rule === undefined ? undefined : `be ${String(rule)}`;
}
