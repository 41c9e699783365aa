import { readUnverified } from '../../adapters/signing/jws.ts';
import { judgeSigned, readEnvelope, type SignedFault } from '../../core/owner/signed-message.ts';
import type { Opening } from '../../ports/signature.ts';
import { DEEPEST_JSON } from '../../protocol/json.ts';
import { malformedField } from '../../protocol/mqtt/token.ts';
import { LONGEST_ANSWER } from '../../protocol/signed.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';

/** Why an answer to a token request is not taken. */
export type AnswerFault =
  | SignedFault
  /** Nobody here waits for it: late, doubled, replayed, or for somebody else. */
  | 'unasked'
  /** More at once than are looked at. */
  | 'flood'
  /** The broker had kept it: it is as old as anything. */
  | 'retained';

const WORDS: Readonly<Record<AnswerFault, string>> = {
  oversized: 'it is too long',
  malformed: 'it is malformed',
  nested: `it is nested more than ${DEEPEST_JSON} levels deep`,
  unsigned: 'it is not signed, and the configuration names owner.publicKeyFiles',
  algorithm: 'it is not signed with Ed25519',
  unknown_key: 'it is signed with a key that owner.publicKeyFiles does not hold',
  signature: 'its signature is wrong',
  type: 'it was signed as another kind of message',
  device: 'it was signed for another device',
  id: 'the id that was signed is not the one outside',
  unasked: 'nobody waits for it',
  flood: 'too many came at once',
  retained: 'the broker had kept it, and the backend must not retain answers',
};

/** Goes on after "an answer to a token request was refused: ". */
export function explainFault(fault: AnswerFault): string {
  return WORDS[fault];
}

/** What is wrong where it is not the signature. */
const FIELDS: Readonly<Partial<Record<AnswerFault, string>>> = {
  oversized: `(more than ${LONGEST_ANSWER} characters)`,
  malformed: malformedField(null),
  nested: '(nested too deeply)',
  retained: '(retained)',
};

/** What of the message is wrong, for those who are told why the backend counts as silent. */
export function fieldOf(fault: AnswerFault): string {
  return FIELDS[fault] ?? 'jws';
}

/** The one door for `{p}/token/res`: what comes through is the backend's word, if there are keys to tell by. */
export interface AnswerReader {
  /** @param retained the broker had kept it */
  receive(payload: string, retained: boolean): void;
  /** Other keys; null: none, anybody's word is taken. */
  trust(signatures: SignedContentReader | null): void;
}

export interface AnswerReaderParts {
  /** `{p}` */
  readonly base: string;
  readonly signatures: SignedContentReader | null;
  /** Whether somebody waits for the answer to this request. */
  awaits(id: string): boolean;
  /** @param body of the message, as JSON has it */
  deliver(body: unknown): unknown;
  refused(fault: AnswerFault): void;
}

/** Signatures that are checked at one time: a flood must not take the whole machine. */
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
      // Each request is answered once: what was signed for an older one is of no use to anybody.
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
