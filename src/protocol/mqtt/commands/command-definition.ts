import type { z } from 'zod';
import { nameSchema } from '../topics.ts';

/** Everything about one command except its effect, which is its handler in src/device/operator. */
export interface CommandDefinition {
  /**
   * The arguments; the description says what the command does. A `strictObject`: a misspelt argument is an error, not
   * ignored.
   */
  readonly args: z.ZodType;
  /**
   * Arguments whose values the backend may keep, for months and readable by viewers: in jobs and in the audit. Any other may be a
   * secret, or something that a person says.
   */
  readonly keeps?: readonly string[];
  /** The broker must not store this command: it is sent with QoS 0, and only to a connected device. */
  readonly onlyConnected?: true;
  /** The `data` of the answer `ok`. */
  readonly data: z.ZodType;
  /** The lowest role at the broker that may send the command. */
  readonly role: 'operator' | 'administrator';
  /** If the owner has keys (`owner.publicKeyFiles`), the command must be signed. */
  readonly mustBeSigned?: true;
  /** Changes nothing: running it twice does no harm. */
  readonly isReadOnly?: true;
  /** Gets the checked arguments, and returns the command for the release of a held key, which undoes this one; default: none. */
  readonly atRelease?: (args: Readonly<Record<string, unknown>>) => Release;
  /** Arguments for the reference (docs/mqtt.md). */
  readonly example: object;
  /** The command's verb in `dragoman ctl`; null: none, or a verb with its own output (src/cli/ctl/verbs.ts). */
  readonly verb: VerbDefinition | null;
}

/** A command that the release of a key triggers. */
export interface Release {
  readonly command: string;
  readonly args: object;
}

export type CommandDefinitions = Readonly<Record<string, CommandDefinition>>;

/** A verb of `dragoman ctl` that sends a command and prints the answer. */
export interface VerbDefinition {
  /** Default: the name of the command, with hyphens. */
  readonly name?: string;
  /** One line of help. */
  readonly says: string;
  readonly words?: readonly VerbWord[];
}

/** One argument of a command as words on the command line. */
export interface VerbWord {
  /** As the help shows it: `<percent>` stands after the verb, `--until <time>` is an option. */
  readonly flags: string;
  readonly says?: string;
  /** Turns the text into the value; default: the text itself. */
  readonly read?: (text: string) => unknown;
}

/** The argument of commands that act on lanes. */
export const laneArg = { lane: nameSchema.optional().describe('lane id; left out: all lanes') };
export const LANE_WORD: VerbWord = { flags: '--lane <id>', says: 'one lane only; left out: all' };

/** Reads a number. A blank text stays text, so that the schema refuses it. */
export const readNumber = (text: string): unknown => (text.trim() === '' ? text : Number(text));
