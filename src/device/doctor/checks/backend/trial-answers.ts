import { readUnverified } from '../../../../adapters/signing/jws.ts';
import type { Opening } from '../../../../ports/signature.ts';
import type { SignedContentReader } from '../../../guard/signed-content.ts';
import {
  type AnswerMessage,
  type AnswerReading,
  explainFault,
  readAnswer,
  readSigned,
} from '../../../tokens/answer-rules.ts';
import type { BackendProbe } from './backend-probe.ts';

/**
 * Passes the messages on `{p}/token/res` to a trial of the backend.
 * @param base `{p}`
 * @param signatures null: signatures are not checked
 */
export function createTrialAnswers(
  base: string,
  signatures: SignedContentReader | null,
  probe: BackendProbe,
): (message: AnswerMessage) => void {
  let checks = 0;
  const take = (reading: AnswerReading): void => {
    if (reading.kind === 'signed') check(reading.id, reading.jws);
    else if (reading.kind === 'body') probe.receive(reading.body);
    // Answers to a running agent's requests arrive here too.
    else if (reading.fault !== 'unasked') probe.refused(explainFault(reading.fault));
  };
  const check = (id: string, jws: string): void => {
    const checked = (opening: Opening): void => take(readSigned(opening, id, base));
    if (signatures === null) return checked(readUnverified(jws));
    checks += 1;
    signatures.open(jws, (opening) => {
      checks -= 1;
      checked(opening);
    });
  };
  const isAwaited = (id: string): boolean => probe.pending.includes(id);
  return (message) => take(readAnswer(message, { hasKeys: signatures !== null, checks, isAwaited }));
}
