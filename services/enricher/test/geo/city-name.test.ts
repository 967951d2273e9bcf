import { cityName } from '../../src/geo/city-name.ts';
import { placeOf } from '../../src/geo/mmdb-place.ts';
import { bundledPlaces } from './bundled-places.ts';

/** The column `city` has the town without its district. Otherwise reports would show one row for each district of a city. */
test.each([
  ['DE', 'Berlin (Charlottenburg-Wilmersdorf)', 'Berlin'],
  ['RU', 'Moscow (Tsentralnyy administrativnyy okrug)', 'Moscow'],
  ['CH', 'Zurich (Zurich (Kreis 11) / Oerlikon)', 'Zurich'],
  ['KR', 'Seoul (Namdaemunno 5(o)-ga)', 'Seoul'],
  ['DE', 'Frankfurt (Oder)', 'Frankfurt (Oder)'],
  ['DE', 'Frankfurt (Oder) (Markendorf)', 'Frankfurt (Oder)'],
  ['DE', 'Halle (Saale)', 'Halle (Saale)'],
  ['DE', 'Freiburg (Elbe) Flecken', 'Freiburg (Elbe) Flecken'],
  ['US', 'St Louis (Baden)', 'St Louis'],
  ['XX', '(Nowhere)', '(Nowhere)'],
  ['XX', 'Nowhere)', 'Nowhere)'],
  ['XX', '', ''],
])('%s %s: %s', (country, name, city) => {
  expect(cityName(country, name)).toBe(city);
});

test('the bundled data: the complete list of names that keep their brackets', () => {
  const cities = new Set(bundledPlaces().map(({ country, city }) => placeOf({ country_code: country, city }).city));
  const left = [...cities].filter((city) => /\(.*\)$/.test(city)).sort();
  expect(left).toEqual([
    'Achim (Baden)',
    'Au (Schwarzwald)',
    'Brake (Unterweser)',
    'Frankfurt (Oder)',
    'Haag (Rheintal)',
    'Hamm (Sieg)',
    'Hennef (Sieg)',
    'Kempten (Allgau)',
    // In the data, this name has an unbalanced bracket.
    'Narsampet (V), Laknepally)',
    'Neustadt (Hessen)',
    'Nussdorf (Chiemgau)',
    'Rotenburg (Wumme)',
    'Wetter (Ruhr)',
    'Winsen (Aller)',
  ]);
});
