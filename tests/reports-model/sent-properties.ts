import fc from 'fast-check';

// The custom properties of the generated histories.

export type Properties = Readonly<Record<string, unknown>>;

/**
 * The properties of a hit. They are flat. `mixed`: a property whose values have several types. `cart`: a property that other rows have as an object.
 */
export const hitProperties: fc.Arbitrary<Properties> = fc
  .record(
    {
      plan: fc.constantFrom('pro', 'free', "o'x", '', null, 'Pro', 'x\\y', '%', '*'),
      seats: fc.integer({ min: 0, max: 3 }),
      trial: fc.boolean(),
      price: fc.constantFrom(0.1, 1.5, -2.75),
      mixed: fc.constantFrom('x', 7, true, 1.5),
      'a:b': fc.constantFrom('x', 'y'),
      'cart.total': fc.nat(3),
      currency: fc.constantFrom('EUR', 'usd'),
      cart: fc.constantFrom('x', 5),
      Plan: fc.constantFrom('pro', 'free'),
      "o'k\\{site:String}": fc.constantFrom('x', 'y'),
    },
    { requiredKeys: [] },
  )
  // Two values under one path are refused.
  .map(({ cart, ...others }) => (cart === undefined || 'cart.total' in others ? others : { ...others, cart }));

/** Names that are not valid in the dimension `property:NAME`, and the longest valid name. */
const ODD_NAMES = ['a\nb', 'n'.repeat(257), 'n'.repeat(256)];

export const serverProperties: fc.Arbitrary<Properties> = fc
  .record(
    {
      plan: fc.constantFrom('pro', 'free'),
      cart: fc.record(
        { total: fc.nat(3), tags: fc.constant(['x', 1]), items: fc.constant([{ sku: 1 }]) },
        { requiredKeys: ['total'] },
      ),
      // Such values are not stored.
      nothing: fc.constantFrom({}, null, { inner: {} }),
      odd: fc.constantFrom(...ODD_NAMES),
    },
    { requiredKeys: [] },
  )
  .map(({ odd, ...others }) => (odd === undefined ? others : { ...others, [odd]: true }));
