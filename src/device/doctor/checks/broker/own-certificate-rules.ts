import type { WallMs } from '../../../../protocol/common/time.ts';
import { DAY_MS, day, RENEW_WITHIN_DAYS } from '../../network/certificate-rules.ts';
import { count, type Outcome, ok, problem, warning } from '../../report/finding.ts';

/** Our client certificate for the broker. */
export interface OwnCertificateFacts {
  /** Wall-clock milliseconds. */
  readonly validTo: number;
  /** The certificate is a renewed one that the agent stores, not the one in `mqtt.certFile`. */
  readonly isRenewed: boolean;
  /** The agent has requested the next certificate. */
  readonly isAsked: boolean;
}

export function judgeOwnCertificate(
  { validTo, isRenewed, isAsked }: OwnCertificateFacts,
  wall: WallMs | null,
): Outcome {
  if (wall === null) return ok('client certificate readable');
  const days = Math.floor((validTo - wall) / DAY_MS);
  const which = isRenewed ? 'the renewed client certificate' : 'the client certificate in mqtt.certFile';
  const asked = isAsked ? ', and the next one is requested' : '';
  const byHand = 'Have a new certificate issued for this device and store it as the file in mqtt.certFile.';
  const fix = isAsked ? 'The owner can approve it: dragoman-backend devices renew.' : byHand;
  if (days < 0) return problem(`${which} ended on ${day(validTo)}`, byHand);
  if (days < RENEW_WITHIN_DAYS)
    return warning(`${which} ends on ${day(validTo)} (${count(days, 'day')})${asked}`, fix);
  return ok(`client certificate good until ${day(validTo)}${asked}`);
}
