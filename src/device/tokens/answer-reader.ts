import { readUnverified } from '../../adapters/signing/jws.ts';
import { judgeSigned, readEnvelope, SIGNED_FAULTS, type SignedFault } from '../../core/signed-message.ts';
import type { Opening } from '../../ports/signature.ts';
import { malformedField } from '../../protocol/mqtt/token.ts';
import { LONGEST_ANSWER } from '../../protocol/signed.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';

/** Why an answer to a token request is refused. */
export type AnswerFault =
  | SignedFault
  /** No request waits for it: it is late, a duplicate, replayed, or for another device. */
  | 'unasked'
  /** Too many answers at once to check. */
  | 'flood'
  /** The broker had retained it: its age is unknown. */
  | 'retained';

const WORDS: Readonly<Record<AnswerFault, string>> = {
  ...SIGNED_FAULTS,
  unasked: 'no request waits for it',
  flood: 'too many came at once',
  retained: 'the broker had retained it, and the backend must not retain answers',
};

/** Completes "an answer to a token request was refused: ". */
export function explainFault(fault: AnswerFault): string {
  return WORDS[fault];
}

/** Faulty part of the message, for faults outside the signature. */
const FIELDS: Readonly<Partial<Record<AnswerFault, string>>> = {
  oversized: `(more than ${LONGEST_ANSWER} characters)`,
  malformed: malformedField(null),
  nested: '(nested too deeply)',
  retained: '(retained)',
};

/** The faulty part of the message, for the report of a silent backend. */
export function fieldOf(fault: AnswerFault): string {
  return FIELDS[fault] ?? 'jws';
}

/** The only entry point for `{p}/token/res`. With keys, only the backend's answers pass. */
export interface AnswerReader {
  /** @param retained the broker had retained it */
  receive(payload: string, retained: boolean): void;
  /** Replaces the keys; null: signatures are not checked. */
  trust(signatures: SignedContentReader | null): void;
}

export interface AnswerReaderParts {
  /** `{p}` */
  readonly base: string;
  readonly signatures: SignedContentReader | null;
  /** Whether a request with this id is open. */
  awaits(id: string): boolean;
  /** @param body the body of the message, as JSON */
  deliver(body: unknown): unknown;
  refused(fault: AnswerFault): void;
}

/** Maximum number of signatures checked at one time: a flood must not use the whole CPU. */
const MOST_OPENINGS = 32;

export function createAnswerReader(parts: AnswerReaderParts): AnswerReader {
  const { base, awaits, deliver, refused } = parts;
  let { signatures } = parts;
  let openings = 0;

  const judge = (opening: Opening, id: string): void => {
    if (!opening.ok) return refused(opening.why);
    const judged = judgeSigned(opening.content, { type: 'dragoman+token', devices: [base], id });
    if (judged.ok) deliver(judged.body);
    else refused(judged.why);
  };

  return {
    receive(payload, retained) {
      if (retained) return refused('retained');
      const envelope = readEnvelope(payload, LONGEST_ANSWER);
      if (envelope.kind === 'unreadable') return refused(envelope.why);
      if (envelope.kind === 'plain') {
        if (signatures === null) deliver(envelope.json);
        else refused('unsigned');
        return;
      }
      const { id, jws } = envelope;
      if (id === null) return refused('malformed');
      // Each request is answered once, so a signed answer to an older one is useless.
      if (!awaits(id)) return refused('unasked');
      if (signatures === null) return judge(readUnverified(jws), id);
      if (openings >= MOST_OPENINGS) return refused('flood');
      openings += 1;
      signatures.open(jws, (opening) => {
        openings -= 1;
        judge(opening, id);
      });
    },
    trust(given) {
      signatures = given;
    },
  };
}
