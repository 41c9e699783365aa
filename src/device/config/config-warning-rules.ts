import { unknownLanguages } from '../../protocol/common/language.ts';
import type { Config } from '../../protocol/config.ts';
import { isExposedAddress, isLoopback, readAddress } from '../../protocol/host-name.ts';

/** A risk in a valid configuration. */
export interface ConfigWarning {
  readonly key: string;
  /** A sentence for the owner; it follows the key. */
  readonly message: string;
  readonly fix: string;
}

/** The risks in a valid configuration. */
export function configWarnings({ mqtt, owner, service, lanes }: Config): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  if (isExposedAddress(mqtt.url))
    warnings.push({
      key: 'mqtt.url',
      message:
        'leaves this machine unencrypted (mqtt.allowInsecure): anyone on the network path can read the password and redirect the microphone',
      fix: 'Use mqtts:// or wss://, and let mqtt.caFile name the authority of the broker.',
    });
  // At a broker on this machine, no other client publishes.
  if (owner.publicKeyFiles.length === 0 && !isLoopback(readAddress(mqtt.url)?.hostname ?? ''))
    warnings.push({
      key: 'owner.publicKeyFiles',
      message: 'is empty: any client that may publish to token/res can answer in place of the backend',
      fix: 'Make keys with "dragoman-backend keys create", and name the public one here.',
    });
  if (service.hosts.length === 0)
    warnings.push({
      key: 'service.hosts',
      message:
        "is empty: any client that may answer a token request chooses where the microphone's sound goes",
      fix: 'List the hosts of the translation service, such as ["stream.example"].',
    });
  for (const [index, { source, targets }] of lanes.entries())
    for (const [key, tags] of [
      ['source', [source]],
      ['targets', targets],
    ] as const)
      for (const tag of unknownLanguages(tags))
        warnings.push({
          key: `lanes[${index}].${key}`,
          message: `names "${tag}", which is not a known language: the service may refuse it`,
          fix: 'Write a code of ISO 639, with a region if needed, such as "es" or "pt-br".',
        });
  return warnings;
}
