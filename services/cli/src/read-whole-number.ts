import { InvalidArgumentError } from 'commander';

/** Returns a parser for the argument of an option: a whole number from 1 to `max`. Another text ends the command with a usage error. */
export function readWholeNumber(max: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (count < 1 || count > max) throw new InvalidArgumentError(`it must be a whole number from 1 to ${max}.`);
    return count;
  };
}
