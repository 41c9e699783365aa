import type { Config } from '../../protocol/config.ts';
import { isExposedAddress, isLoopback } from '../../protocol/host.ts';

/** What a valid configuration leaves open. */
export interface ConfigWarning {
  readonly key: string;
  /** A sentence for the owner; goes on after the key. */
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
}

/** What an owner should know of a configuration that works. */
export function configWarnings({ mqtt, owner, service }: Config): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  if (isExposedAddress(mqtt.url))
    warnings.push({
      key: 'mqtt.url',
      message:
        'leaves this machine in clear (mqtt.allowInsecure): anybody on the way can read the password and redirect the microphone',
      fix: 'Use mqtts:// or wss://, and let mqtt.caFile name the authority of the broker.',
    });
  // On this machine nobody else publishes.
  if (owner.publicKeyFiles.length === 0 && !isLoopback(new URL(mqtt.url).hostname))
    warnings.push({
      key: 'owner.publicKeyFiles',
      message: 'is empty: whoever may publish to token/res can answer in the place of the backend',
      fix: 'Make keys with "dragoman-backend keys create", and name the public one here.',
    });
  if (service.hosts.length === 0)
    warnings.push({
      key: 'service.hosts',
      message: 'is empty: whoever may answer a token request chooses where the microphone is heard',
      fix: 'List the hosts of the translation service, such as ["stream.example"].',
    });
  return warnings;
}
