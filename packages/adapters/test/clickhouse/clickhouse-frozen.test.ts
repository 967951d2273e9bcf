import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../../..');
const MIGRATIONS = join(ROOT, 'schemas/clickhouse');

const DIGESTS: readonly (readonly [string, string])[] = [
  ['000_records.sql', '9aa7f755608d01896f25c8af5c50fbd4de61f6ba9c300ab11911003951334512'],
  ['001_outcomes.sql', 'a188fd21f8dde6cfb83a87122637ba4e201bd36c72e6db5924ef667d60b4153a'],
  ['002_session_fragments.sql', '74de81f77aae4b85352322052d16eef677283a328ebdf32c470bb438fe2aa09e'],
  ['003_people.sql', '766745ea4ad006ee40dd6153ae86d1dab3fc7b04cd43de3f2adf7506f273cc7d'],
  ['004_events.sql', '334ccbf1f9d70daa4039a6a967475e7c2caeb2f72c93c8cf0c6dedc64c34b281'],
  ['005_sessions.sql', 'de7f91c78549b4176712d231dec76a130b4935648941ba579674f397ba36f219'],
  ['006_dead_letters.sql', '979f73d6e1adc1b16365e107d2ecebeb66c2e1fa87a65bdd030e40716bfd5fb2'],
  ['007_payments.sql', 'c55acfeb1bf42f80d4967394d8a276e754dbffa4c15be37829707de578fbd791'],
  ['008_authenticated_identities.sql', '9b40e8cdcd361e69c2add07c72508723a7dab7ac6f50e554385095e9a8ecd060'],
  ['009_people_of_events.sql', '35e9926f06b23f630532a85b8e2d92f7a284f6b40165cbf0b8f61d3f4d3b5084'],
  ['010_generation.sql', '01e4cac1909d7f389b6254308878dd73445a900081c1e4d3dc7cbc113f3efbc8'],
  ['012_erasure.sql', 'f9bcbcf49635c0e3ece16f71b6ebf4b2dea5ba69f877104c271a18bc44b90ab5'],
  ['013_retention.sql', '4039b43ecf8370b5472bbf93bc2d20ce39ad94cd2f75da002cb10433741d4d4c'],
  ['014_visit_stamps.sql', '065d8a29a5c5185da6c1cd45eb2da3f9217f8704bb1b58b57d4119e9993cfe94'],
  ['015_moves_of_visitors.sql', 'b51d377e593f92aefa8bfdd04ec5047f72bde005c0b4edfc40e01d0c93f4a01c'],
  ['016_sessions_of_rows.sql', '35cd3038cee1794c5addbcc5f0376e58f90309eb06d3e48b6dd55497722bfe3d'],
  ['018_dead_letter_attempts.sql', 'cd6347870e013640e7f2faf02537e11687dd5f8273eaa23ab8f3d596907ec6ad'],
  ['019_codecs.sql', '575f1c211cc8d0976ae9be0bec0c1ca47f99d77ef800c493c698648caff32537'],
  ['020_report_keys.sql', 'ccfeed58ecb00c0a394f8007ca5fd39e71c5b89c0472c3374f88dd8472ca2aa9'],
  ['021_audit_checkpoints.sql', '33b5106b950b6c4ad64f551848f99c1ce1f7a459dddb37476bb7fb6d34ed3dd7'],
  ['022_visit_slots.sql', '4ee81a5d3a5758090beb8c8829fe593c1d82135a31c76b1f84cfb14ee7f83dc1'],
  ['023_moves_of_sites.sql', '67d3d085adbfda92f6a40736b29051668495989fa273f9c8bac11ef1b1344e8b'],
  ['024_property_names.sql', 'dcef3f7c0c4b97461d41a9d5a035eac12d412d9c768f138157d0ef0983f8dad0'],
  ['025_links_in_time.sql', 'c6c57da9358c4aee673cbbd28f74d5948e44ccdd27a137d591dd1b7b6942e880'],
  ['026_traits_as_sent.sql', '570bf5e7b8df3960de177bc828db6e0819dec3745adfe1bb837e0f00fc90d982'],
  ['027_slot_properties.sql', '1a3774e38fc41e9ef44e1f5bb22732e4918b0d329b8693507030aa796a988408'],
  ['028_slot_page_visits.sql', 'b2415bbd212fb138d28f4ebc35e1749ce7c641ecd11bdd086dd1075d5830b13b'],
  ['029_visit_months.sql', 'aeb53d6ae88833541258e3f10d38c70d3e83957c379b989d3ae227a6060bf4a0'],
];

/**
 * The text of a released migration must never change, not even in a comment. Weir refuses to start if an applied migration had another
 * text.
 */
test.each(DIGESTS)('the text of %s has not changed', (name, digest) => {
  expect(
    createHash('sha256')
      .update(readFileSync(join(MIGRATIONS, name)))
      .digest('hex'),
  ).toBe(digest);
});

test('each released migration has a digest', () => {
  // While the changelog has a section "Unreleased", migrations after the last one in DIGESTS are not released. Each release renames this section.
  const isReleased = !/^## Unreleased/m.test(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'));
  const names = DIGESTS.map(([name]) => name);
  const newest = names.at(-1) ?? '';
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  expect(files.filter((file) => (isReleased || file < newest) && !names.includes(file))).toEqual([]);
});
