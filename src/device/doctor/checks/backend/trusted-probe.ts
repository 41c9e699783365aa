import { randomBytes } from 'node:crypto';
import type { BusMessage } from '../../../../ports/bus.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { Config } from '../../../../protocol/config.ts';
import type { DeviceTopics } from '../../../../protocol/mqtt/topics.ts';
import { ownerSignatures } from '../../../config/unusable-file.ts';
import { guardSignatures, type SignedContentReader } from '../../../guard/signed-content.ts';
import { type BackendProbe, createBackendProbe } from './backend-probe.ts';
import { createTrialAnswers } from './trial-answers.ts';

/** A probe outside the agent: it takes only answers that the owner's keys have signed. */
export interface TrustedProbe {
  readonly probe: BackendProbe;
  /** A message arrived on the topic of the answers. */
  hear(message: BusMessage): void;
  /** @throws UnusableFile if a key of the owner cannot be used */
  checkKeys(): void;
}

export function createTrustedProbe(config: Config, topics: DeviceTopics, clock: Clock): TrustedProbe {
  const probe = createBackendProbe(topics, clock, () => `doctor-${randomBytes(9).toString('base64url')}`);
  const keys = trustedKeys(config);
  const receive = createTrialAnswers(topics.base, keys.signatures, probe);
  return {
    probe,
    hear: ({ payload, retain }) => receive({ payload, retained: retain }),
    checkKeys: keys.check,
  };
}

/** The owner's keys; an unusable file is reported by the check that needs it. */
function trustedKeys(config: Config): { signatures: SignedContentReader | null; check(): void } {
  try {
    const reader = ownerSignatures(config);
    return { signatures: reader === null ? null : guardSignatures(reader, () => {}), check: () => {} };
  } catch (error) {
    const check = (): void => {
      throw error;
    };
    return { signatures: null, check };
  }
}
