/**
 * Ranges of the numbers and texts in messages of devices. A stolen login can send anything: a number beyond these ranges would overflow
 * a sum, and a control character cannot be stored everywhere. A message or field beyond them is dropped.
 */
import * as z from 'zod';
import { plainTextSchema } from '../common/plain-text.ts';

/** Maximum of counts and bytes: a sum of a million of them still fits into 53 bits. */
const MOST = 1e9;
/** Maximum duration, about three years (ms): no agent runs longer. */
const LONGEST_MS = 1e11;

export const count = z.number().min(0).max(MOST);
export const wholeCount = z.int().min(0).max(MOST);
export const bytes = z.number().min(0).max(1e13);
export const milliseconds = z.number().min(0).max(LONGEST_MS);
export const seconds = z
  .number()
  .min(0)
  .max(LONGEST_MS / 1000);
/** Measured values that may be negative: decibels, degrees, measured delays. */
export const measure = z.number().min(-1e6).max(1e6);

/** Names, codes and ids. */
export const word = plainTextSchema.max(256);
/** A text for people. It may have several lines. */
export const sentence = z
  .string()
  .max(4096)
  .refine((text) => !/[^\P{Cc}\t\r\n]/u.test(text), 'must not contain control characters');
