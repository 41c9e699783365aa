/** People, audit, cost and conversations in the owner's console. */
import * as z from 'zod';
import { BILL_KEYS, type BillKey, type BillLine, type BillTotal } from './bill.ts';
import { plainTextSchema } from './common/plain-text.ts';
import { CONSOLE_ROLES, type ConsoleRole } from './console-routes.ts';

export const personNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._@-]{0,63}$/, 'must be 1 to 64 of the characters a-z, 0-9 and "._@-"');
/** At most 256 characters: hashing a longer password would only keep the machine busy. */
export const newPasswordSchema = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(256, 'must have at most 256 characters');

export const signInSchema = z.strictObject({
  // A key in the store, so it must not contain NUL: SQLite of Node 20 truncates the text there, PostgreSQL refuses it.
  name: plainTextSchema.min(1).max(64),
  password: z.string().min(1).max(256),
});
export type SignInRequest = z.infer<typeof signInSchema>;

export interface Me {
  readonly name: string;
  readonly role: ConsoleRole;
  /** End of the session, which ends earlier if it is unused for too long. */
  readonly expiresAt: string;
}

export const passwordChangeSchema = z.strictObject({
  old: z.string().min(1).max(256),
  new: newPasswordSchema,
});
export type PasswordChange = z.infer<typeof passwordChangeSchema>;

export interface Person {
  readonly name: string;
  readonly role: ConsoleRole;
  readonly since: string;
  /** Time of the last successful sign-in; null: never. */
  readonly lastSeenAt: string | null;
  /** End of the lock after too many wrong passwords: until then no password is checked. Null: not locked. */
  readonly lockedUntil: string | null;
}
export const newPersonSchema = z.strictObject({
  name: personNameSchema,
  role: z.enum(CONSOLE_ROLES),
  password: newPasswordSchema,
});
export type NewPerson = z.infer<typeof newPersonSchema>;
export const personChangeSchema = z
  .strictObject({ role: z.enum(CONSOLE_ROLES).optional(), password: newPasswordSchema.optional() })
  .refine(({ role, password }) => role !== undefined || password !== undefined, 'must change something');
export type PersonChange = z.infer<typeof personChangeSchema>;

const day = z.iso.date();
export const auditQuerySchema = z.strictObject({
  who: plainTextSchema.max(64).optional(),
  /** Beginning of the action's name: `command`, `command.mute`, `people`. */
  what: plainTextSchema.max(64).optional(),
  device: plainTextSchema.max(129).optional(),
  from: day.optional(),
  to: day.optional(),
  /** Requests the next page: only lines older than the one with this id. */
  before: plainTextSchema.max(64).optional(),
});
export type AuditQuery = z.input<typeof auditQuerySchema>;

export interface AuditLine {
  readonly id: string;
  readonly at: string;
  readonly who: string;
  /** Address of the browser, if known. */
  readonly from: string;
  /** `sign-in`, `command.mute`, `config.device`, `people.add`, `people.role` ... */
  readonly what: string;
  /** Device, group, person or "1200 devices"; null: none. */
  readonly on: string | null;
  /** Arguments without secrets and without text to be spoken. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Null: no result yet. */
  readonly result: { readonly at: string; readonly ok: boolean; readonly text: string } | null;
}
export interface AuditPage {
  /** Newest first, 100 at most. */
  readonly lines: readonly AuditLine[];
  /** Value of `before` for the next page; null: this is the last page. */
  readonly before: string | null;
}

export const costQuerySchema = z.strictObject({
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as "2026-11"'),
  by: z.enum(BILL_KEYS).default('device'),
});
export type CostQuery = z.input<typeof costQuerySchema>;

export interface Cost {
  readonly month: string;
  readonly by: BillKey;
  readonly lines: readonly BillLine[];
  readonly total: BillTotal;
}

export const CONVERSATION_KEYS = ['day', 'device', 'group', 'language'] as const;
export const conversationsQuerySchema = z.strictObject({
  from: day,
  to: day,
  by: z.enum(CONVERSATION_KEYS).default('day'),
});
export type ConversationsQuery = z.input<typeof conversationsQuerySchema>;

/** Statistics without the content of conversations. Days are in UTC. */
export interface Conversations {
  readonly from: string;
  readonly to: string;
  readonly by: (typeof CONVERSATION_KEYS)[number];
  /** Days in order of date, other lines by number of conversations. A conversation counts for each of its languages. */
  readonly lines: readonly ConversationLine[];
  readonly total: Omit<ConversationLine, 'name'>;
}
export interface ConversationLine {
  readonly name: string;
  readonly conversations: number;
  readonly minutes: number;
  readonly sentences: number;
  readonly billedMinutes: number;
  /** Mean of the conversations' median delays; null: none was measured. */
  readonly delayMs: number | null;
}
