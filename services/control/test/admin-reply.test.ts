import { replyOfError } from '@weir/control/http/admin-reply';
import { DependencyError } from '@weir/domain/errors';

test.each([
  ['Syntax error: failed at x. (SYNTAX_ERROR) (version 26.7.1.1)', 'Syntax error: failed at x. (SYNTAX_ERROR)'],
  ['Too slow (version 26.7.1.1 (official build))\n', 'Too slow'],
  ['the function (version 1) is unknown', 'the function (version 1) is unknown'],
  [`Cannot parse '${' '.repeat(60_000)}'  (version 26.7.1.1)`, "Cannot parse ' '"],
  [`Cannot parse ${'(version '.repeat(20)}`, `Cannot parse ${'(version '.repeat(20)}`.trimEnd()],
  ['x'.repeat(600), `${'x'.repeat(500)}…`],
])('message %# of ClickHouse is shown without its version, and not longer than 500 chars', (message, shown) => {
  expect(replyOfError(new DependencyError('analytics_refused', message))).toEqual({ status: 400, message: shown });
});
