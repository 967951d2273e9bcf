import { controlOpenApi } from '@weir/control/openapi/control-openapi';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

// A path also has `parameters`, which is not an operation.
const operations = Object.values(controlOpenApi().paths)
  .flatMap((path) => Object.values(path as object) as Operation[])
  .filter(({ operationId }) => operationId !== undefined);
const answersOf = (id: string) => operations.find(({ operationId }) => operationId === id)?.responses ?? {};

test('each operation of the admin API documents the answers that every call can get', () => {
  expect(operations.length).toBeGreaterThan(50);
  for (const { operationId, responses } of operations) {
    const missing = ['400', '401', '403', '405', '408', '431', '500', '503'].filter((status) => !(status in responses));
    expect([operationId, missing]).toEqual([operationId, []]);
  }
});

test('the removal of a site documents the ID of the erasure, and 409', () => {
  const answers = answersOf('removeSite');
  expect(JSON.stringify(answers['200'])).toContain('erasure_id');
  expect(answers).toHaveProperty('409');
});

test('the release of an import documents a temporary refusal', () => {
  expect(answersOf('releaseImport')).toHaveProperty(['409', 'headers', 'Retry-After']);
});
