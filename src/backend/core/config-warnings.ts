import type { BackendConfig } from '../../protocol/backend-config.ts';
import { isExposedAddress } from '../../protocol/host.ts';

/** What a valid configuration of the backend leaves open, a sentence each. */
export function backendWarnings({ mqtt, service }: BackendConfig): string[] {
  const warnings: string[] = [];
  if (isExposedAddress(mqtt.url))
    warnings.push(
      'mqtt.url leaves this machine in clear (mqtt.allowInsecure): anybody on the way can read every token. Use mqtts:// or wss://.',
    );
  if (isExposedAddress(service.url))
    warnings.push(
      'service.url leaves this machine in clear (service.allowInsecure): anybody on the way can read the API key. Use https://.',
    );
  return warnings;
}
