import { doubtfulParts } from '../src/tokens/doubtful-parts.ts';
import { parsePart } from '../src/tokens/table-folders.ts';

const part = (name: string) => {
  const found = parsePart(name);
  if (found === undefined) throw new Error(`not a part: ${name}`);
  return found;
};

interface Case {
  /** The parts on the disk, with the number of their rows. */
  readonly parts: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly withToken?: readonly string[];
}

function found({ parts, accepted, withToken = [] }: Case) {
  const { detached, kept } = doubtfulParts({
    parts: Object.keys(parts).map(part),
    acceptedBlocks: accepted,
    withToken: withToken.map(part),
    rowsOf: ({ name }) => parts[name],
  });
  return { detached: detached.map(({ name }) => name), kept: kept.map(({ name }) => name) };
}

describe('parts of inserts that were never acknowledged', () => {
  it('are above the accepted block numbers and have no token', () => {
    const parts = { m_1_1_0: 1, m_2_2_0: 1, m_3_3_0: 1, n_4_4_0: 1, m_5_5_0: 1 };
    expect(found({ parts, accepted: 2, withToken: ['m_3_3_0'] })).toEqual({
      detached: ['n_4_4_0', 'm_5_5_0'],
      kept: [],
    });
    expect(found({ parts, accepted: 5 })).toEqual({ detached: [], kept: [] });
    // The same block number in another partition is another insert.
    expect(found({ parts, accepted: 4, withToken: ['n_5_5_0'] })).toEqual({ detached: ['m_5_5_0'], kept: [] });
  });

  it('are detached with the parts into which they were merged, the merged part first', () => {
    const parts = { all_1_2_1: 2, all_3_3_0: 1, all_4_4_0: 1, all_1_4_2: 4, all_5_5_0: 1 };
    expect(found({ parts, accepted: 3, withToken: ['all_5_5_0'] })).toEqual({
      detached: ['all_1_4_2', 'all_4_4_0'],
      kept: [],
    });
    const onlyDoubtful = { all_1_1_0: 1, all_2_2_0: 1, all_3_3_0: 1, all_2_3_1: 2 };
    expect(found({ parts: onlyDoubtful, accepted: 1 }).detached).toEqual(['all_2_3_1', 'all_2_2_0', 'all_3_3_0']);
  });

  it('are found in the middle of a merged part', () => {
    const parts = { all_1_1_0: 1, all_2_2_0: 1, all_3_3_0: 1, all_1_3_1: 3 };
    expect(found({ parts, accepted: 1, withToken: ['all_3_3_0'] })).toEqual({
      detached: ['all_1_3_1', 'all_2_2_0'],
      kept: [],
    });
  });

  it('are detached with their mutated parts', () => {
    const parts = { all_1_1_0_7: 1, all_6_6_0: 4, all_6_6_0_7: 3 };
    expect(found({ parts, accepted: 5 })).toEqual({ detached: ['all_6_6_0_7', 'all_6_6_0'], kept: [] });
  });

  it('of lightweight updates stay', () => {
    expect(found({ parts: { 'patch-abc-all_6_6_0': 1 }, accepted: 5 })).toEqual({ detached: [], kept: [] });
  });
});

describe('a part that was merged with older parts stays', () => {
  test.each<[string, Case]>([
    [
      'if an older part at its beginning is missing',
      { parts: { all_2_2_0: 1, all_3_3_0: 1, all_1_3_1: 3 }, accepted: 2 },
    ],
    ['if an older part in its middle is missing', { parts: { all_1_1_0: 1, all_3_3_0: 1, all_1_3_1: 3 }, accepted: 2 }],
    [
      'if a block with a token is missing, also if the rows do not show it',
      { parts: { all_1_1_0: 1, all_3_3_0: 1, all_1_3_1: 1 }, accepted: 1, withToken: ['all_2_2_0'] },
    ],
    [
      'if an older part does not say its rows',
      { parts: { all_1_1_0: Number.NaN, all_2_2_0: 1, all_1_2_1: 1 }, accepted: 1 },
    ],
    [
      'if it is empty: then its rows were deleted',
      { parts: { all_1_1_0: 1, all_2_2_0: 1, all_1_2_1: 0 }, accepted: 1 },
    ],
    [
      'if the older part lacks a mutation, which could have deleted rows',
      { parts: { all_1_1_0: 2, all_3_3_0: 1, all_1_3_1_2: 2 }, accepted: 2 },
    ],
  ])('%s', (_, case_) => {
    const { detached, kept } = found(case_);
    expect(detached).toEqual([]);
    expect(kept).toHaveLength(2);
  });

  it('but not if the older part has the same mutation, or was inserted after it', () => {
    const parts = { all_1_1_0_2: 1, all_3_3_0: 1, all_4_4_0: 1, all_1_4_1_2: 3 };
    expect(found({ parts, accepted: 3 }).detached).toEqual(['all_1_4_1_2', 'all_4_4_0']);
  });
});
