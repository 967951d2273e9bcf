import { COLUMN_DIMENSION_NAMES } from '@weir/control/reports/dimensions';
import { DIMENSIONS } from '../src/reports/dimension-view.ts';

test('each dimension of the reports has a name: a text dimension.NAME in src/i18n/en.ts and de.ts', () => {
  expect(DIMENSIONS.toSorted()).toEqual(COLUMN_DIMENSION_NAMES.toSorted());
});
