import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGeo } from '@weir/enricher/geo/open-geo';
import regions from '../../services/enricher/lists/regions.json' with { type: 'json' };
import {
  buildMmdb,
  IPV4_IN_IPV6,
  type MmdbContent,
  type MmdbValue,
} from '../../services/enricher/test/geo/mmdb-builder.ts';
import { addressText, type Block, blocksOf } from './address-blocks.ts';
import { type Section, table } from './section.ts';

const COUNTRIES = Object.keys(regions).sort();
const BUILT_AT = new Date('2026-03-01T00:00:00Z');

interface Asked {
  readonly what: string;
  readonly ip: string;
  readonly country: string;
}
interface Layout {
  readonly name: string;
  readonly files: readonly Omit<MmdbContent, 'builtAt'>[];
}

/**
 * Measures the lookup of all countries in generated networks of many sizes. There are networks of IPv4 and of IPv6, and some have gaps between them.
 * Both layouts of MMDB files are used.
 */
export async function countries(): Promise<Section> {
  const ipv4 = blocksOf(COUNTRIES, { family: 4, first: 1n << 24n, prefixes: [12, 28] });
  const ipv6 = blocksOf(COUNTRIES, { family: 6, first: 0x2001n << 112n, prefixes: [24, 64] });
  const asked = [...ipv4, ...ipv6].flatMap(questionsOf);
  const kinds = [...new Set(asked.map(({ what }) => what))];
  const layouts = layoutsOf(ipv4, ipv6);
  const answers = await Promise.all(layouts.map((layout) => right(layout, asked)));
  return {
    title: 'Countries',
    markdown: [
      `The test looks up addresses in generated geo databases (MMDB files) with ${COUNTRIES.length} countries. Each country has an IPv4 network (/12 to /28) and an IPv6 network`,
      '(/24 to /64). Some networks are adjacent, others have a gap before them. The table has the number of right answers and of cases.',
      '',
      table(
        ['asked', ...layouts.map(({ name }) => name)],
        kinds.map((kind) => [kind, ...answers.map((of) => tally(of.filter(({ what }) => what === kind)))]),
      ),
    ].join('\n'),
    targets: layouts.map(({ name }, i) => {
      const of = answers[i] ?? [];
      const reached = of.filter(({ isRight }) => isRight).length / of.length;
      return { name: `countries: ${name}`, reached, wanted: { atLeast: 1 }, cases: of.length };
    }),
  };
}

function layoutsOf(ipv4: readonly Block[], ipv6: readonly Block[]): readonly Layout[] {
  const nested = (code: string): MmdbValue => ({ country: { iso_code: code, names: { en: code } } });
  const flat = (code: string): MmdbValue => ({ country_code: code, state1: '', city: '', timezone: '' });
  const networks = (blocks: readonly Block[], record: (code: string) => MmdbValue, before = '') =>
    blocks.map(({ bits, code }) => ({ bits: before + bits, record: record(code) }));
  return [
    {
      name: "MaxMind's layout, one file",
      files: [
        {
          databaseType: 'GeoLite2-City',
          ipVersion: 6,
          networks: [...networks(ipv4, nested, IPV4_IN_IPV6), ...networks(ipv6, nested)],
        },
      ],
    },
    {
      name: 'flat layout, a file for each family',
      files: [
        { databaseType: 'city ipv4', ipVersion: 4, networks: networks(ipv4, flat) },
        { databaseType: 'city ipv6', ipVersion: 6, networks: networks(ipv6, flat) },
      ],
    },
  ];
}

function questionsOf(block: Block): readonly Asked[] {
  const { family, first, last, code, gapBefore } = block;
  const ask = (what: string, address: bigint, country = code): Asked => {
    return { what, ip: addressText(family, address), country };
  };
  const own = [first, last, (first + last) / 2n].map((address) => ask(`IPv${family}, first, last and middle`, address));
  const gap = gapBefore ? [ask(`IPv${family}, the gap before: nowhere`, first - 1n, '')] : [];
  if (family === 6) return [...own, ...gap];
  const mapped = own.map(({ ip }) => ({ what: 'IPv4-mapped IPv6', ip: `::ffff:${ip}`, country: code }));
  return [...own, ...mapped, ...gap];
}

async function right({ files }: Layout, asked: readonly Asked[]) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-countries-'));
  files.forEach((file, i) => {
    writeFileSync(join(folder, `${i}.mmdb`), buildMmdb({ ...file, builtAt: BUILT_AT }));
  });
  const geo = await openGeo({ database: folder });
  const answers = asked.map(({ what, ip, country }) => ({ what, isRight: geo.lookup(ip).country === country }));
  geo.close();
  rmSync(folder, { recursive: true });
  return answers;
}

function tally(answers: readonly { readonly isRight: boolean }[]): string {
  return `${answers.filter(({ isRight }) => isRight).length} of ${answers.length}`;
}
