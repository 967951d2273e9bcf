import { isIP } from 'node:net';
import { CIDR_PATTERNS } from '@weir/control/openapi/schemas/cidr-patterns';
import fc from 'fast-check';

const part = fc.constantFrom('a', '1f', '0', ':', ':', ':', '::', ':b', '12345', 'g');
const dotted = fc.constantFrom('', '', '192.0.2.1', ':192.0.2.1', '256.0.2.1', '10.0.0');
const address = fc.tuple(fc.array(part, { maxLength: 16 }), dotted).map(([parts, end]) => parts.join('') + end);

test('the published patterns match exactly the addresses that Node accepts', () => {
  const matches = (text: string): boolean => CIDR_PATTERNS.some((pattern) => new RegExp(pattern).test(text));
  fc.assert(
    fc.property(address, (text) => matches(text) === isIP(text) > 0),
    {
      numRuns: 20_000,
      examples: [
        ['::'],
        ['::ffff:192.0.2.1'],
        ['64:ff9b::192.0.2.33'],
        ['1:2:3:4:5::192.0.2.1'],
        ['1:2:3:4:5:6::192.0.2.1'],
      ],
    },
  );
});
