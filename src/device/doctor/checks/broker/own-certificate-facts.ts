import type { Clock } from '../../../../ports/clock.ts';
import type { MachineParts } from '../../../../ports/machine.ts';
import type { Config } from '../../../../protocol/config.ts';
import { brokerConnection, lookAtCertificate } from '../../../broker/broker-access.ts';
import type { OwnCertificateFacts } from './own-certificate-rules.ts';

/** The device's client certificate; null: there is none that is readable. */
export async function readOwnCertificate(
  config: Config,
  env: MachineParts['env'],
  clock: Clock,
): Promise<OwnCertificateFacts | null> {
  const certificate = await lookAtCertificate(config, env, brokerConnection(config, env), clock);
  if (certificate === null) return null;
  const { present, isRenewed, request } = certificate;
  return { validTo: present.validTo, isRenewed, isAsked: request !== null };
}
