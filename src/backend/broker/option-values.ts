import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { EXIT, Failure } from '../../program/problem.ts';

/** Checks an option's value. @throws Failure that names the option and the problem */
export function checked<T>(name: string, schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new Failure(`${name} ${read.error.issues[0]?.message ?? 'is not valid'}`, EXIT.usage);
}

/** Collects the values of an option that may be given several times. */
export function gather(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Validity of a certificate, at most that of the authority. */
export function days(text: string): number {
  return whole(text, 7300);
}

export function seconds(text: string): number {
  return whole(text, 86_400);
}

function whole(text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
  throw new InvalidArgumentError(`It must be a number from 1 to ${most}.`);
}
