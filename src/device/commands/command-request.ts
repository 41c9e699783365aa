import * as z from 'zod';
import { canonicalJson } from '../../core/canonical-json.ts';
import { DEEPEST_JSON, readJson, textAt } from '../../protocol/common/json.ts';
import { type CommandRequest, commandRequestSchema, FLEET_SPREAD_S } from '../../protocol/mqtt/command.ts';

/** Why a command is not carried out, as the operator reads it. */
export interface CommandFault {
  readonly code: string;
  readonly message: string;
}

/** A command that cannot be carried out. */
export class CommandError extends Error implements CommandFault {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Deepest nesting of arguments; no command needs as much. */
const DEEPEST_ARGS = 16;
const SHAPE = 'the command must be {"id", "args": {...}, "not_after"?: ISO 8601 time}';

const NESTED = `the command must not be nested more than ${DEEPEST_JSON} levels deep`;

export type CommandReading =
  | { readonly kind: 'request'; readonly request: CommandRequest; readonly content: string }
  | { readonly kind: 'malformed'; readonly id: string; readonly message: string }
  /** Without a readable id, no answer is possible. */
  | { readonly kind: 'nameless' };

/** Reads the payload of a command. */
export function readCommand(name: string, payload: string): CommandReading {
  const read = readJson(payload);
  const json = read.kind === 'none' ? undefined : read.value;
  const parsed = commandRequestSchema.safeParse(json);
  if (!parsed.success || read.kind === 'nested') {
    const id = commandRequestSchema.shape.id.safeParse(textAt(json, 'id'));
    const message = read.kind === 'nested' ? NESTED : SHAPE;
    return id.success ? { kind: 'malformed', id: id.data, message } : { kind: 'nameless' };
  }
  const { id, args, not_after } = parsed.data;
  const content = canonicalJson([name, args, not_after ?? null], DEEPEST_ARGS);
  if (content === null) {
    const message = `"args" must not be nested more than ${DEEPEST_ARGS} levels deep`;
    return { kind: 'malformed', id, message };
  }
  return { kind: 'request', request: parsed.data, content };
}

const spreadSchema = z.number().min(0).max(FLEET_SPREAD_S.max);

/** Splits off the fan-out's argument: the command's own schema does not know it. */
export function takeSpread(
  args: Record<string, unknown>,
):
  | { readonly ok: true; readonly spreadMs: number; readonly own: Record<string, unknown> }
  | { readonly ok: false; readonly fault: CommandFault } {
  const { [FLEET_SPREAD_S.key]: spread, ...own } = args;
  if (spread === undefined) return { ok: true, spreadMs: 0, own };
  const parsed = spreadSchema.safeParse(spread);
  if (parsed.success) return { ok: true, spreadMs: parsed.data * 1000, own };
  const message = `${FLEET_SPREAD_S.key}: must be a number of seconds from 0 to ${FLEET_SPREAD_S.max}`;
  return { ok: false, fault: { code: 'invalid_args', message } };
}
