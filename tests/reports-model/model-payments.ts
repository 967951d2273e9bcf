import { decimal, unitsOf } from '../../packages/adapters/test/clickhouse/payments-model.ts';
import type { ModelRow } from './model-rows.ts';

/** A payment, by the rules of docs/people-and-money.md (Payments). */
export interface ModelPayment {
  /** In capitals. Empty if the payment has no currency. */
  readonly currency: string;
  /** The payment customer. Empty if the payment has none. */
  readonly customer: string;
  /** In units of 10^-18. Undefined if the amount is not a decimal number, or has too many digits. */
  readonly units: bigint | undefined;
}

/** The payment that a row is; undefined if it is not one. */
export function paymentOf({ sent }: ModelRow): ModelPayment | undefined {
  if (sent.kind !== 'server' || sent.amount === '') return undefined;
  const [currency, customer] = [sent.properties.currency, sent.properties.payment_customer_id].map((value) =>
    String(value ?? ''),
  ) as [string, string];
  if (currency === '' && customer === '') return undefined;
  const isAmount = /^-?\d{1,20}(\.\d{1,18})?$/.test(sent.amount);
  return { currency: currency.toUpperCase(), customer, units: isAmount ? unitsOf(sent.amount) : undefined };
}

/** The sum of the payments among these rows, for each currency. Amounts that are not decimal numbers are left out. */
export function revenueOf(rows: readonly ModelRow[]): readonly object[] {
  const sums = new Map<string, bigint>();
  for (const row of rows) {
    const { currency = '', units } = paymentOf(row) ?? {};
    if (units !== undefined) sums.set(currency, (sums.get(currency) ?? 0n) + units);
  }
  return [...sums]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, units]) => ({ currency, amount: decimal(units) }));
}
