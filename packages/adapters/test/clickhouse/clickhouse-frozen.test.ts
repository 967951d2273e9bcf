import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A migration that was applied must never change, not even in a comment: Weir refuses to start if the text of an applied
 * migration differs.
 */
test.each([
  ['000_records.sql', '9aa7f755608d01896f25c8af5c50fbd4de61f6ba9c300ab11911003951334512'],
  ['001_outcomes.sql', 'a188fd21f8dde6cfb83a87122637ba4e201bd36c72e6db5924ef667d60b4153a'],
  ['002_session_fragments.sql', '74de81f77aae4b85352322052d16eef677283a328ebdf32c470bb438fe2aa09e'],
  ['003_people.sql', '766745ea4ad006ee40dd6153ae86d1dab3fc7b04cd43de3f2adf7506f273cc7d'],
  ['004_events.sql', '334ccbf1f9d70daa4039a6a967475e7c2caeb2f72c93c8cf0c6dedc64c34b281'],
  ['005_sessions.sql', 'de7f91c78549b4176712d231dec76a130b4935648941ba579674f397ba36f219'],
  ['006_dead_letters.sql', '979f73d6e1adc1b16365e107d2ecebeb66c2e1fa87a65bdd030e40716bfd5fb2'],
  ['007_payments.sql', 'c55acfeb1bf42f80d4967394d8a276e754dbffa4c15be37829707de578fbd791'],
])('the text of %s has not changed', (name, digest) => {
  const sql = readFileSync(join(__dirname, '../../../../schemas/clickhouse', name), 'utf8');
  expect(createHash('sha256').update(sql).digest('hex')).toBe(digest);
});
