import type { BackendConfig } from '../../protocol/backend-config.ts';
import { isExposedAddress, isLoopback } from '../../protocol/host.ts';

/** This long before a session's limit a device asks for the next one, unless it is configured otherwise. */
const ROLLOVER_LEAD_S = 22;

/** What a valid configuration of the backend leaves open, a sentence each. */
export function backendWarnings(config: BackendConfig): string[] {
  const { mqtt, service, session, limits, signingKeyFile } = config;
  const warnings: string[] = [];
  if (isExposedAddress(mqtt.url))
    warnings.push(
      'mqtt.url leaves this machine in clear (mqtt.allowInsecure): anybody on the way can read every token. Use mqtts:// or wss://.',
    );
  if (isExposedAddress(service.url))
    warnings.push(
      'service.url leaves this machine in clear (service.allowInsecure): anybody on the way can read the API key. Use https://.',
    );
  const { maxSessionDurationSeconds: maxS } = session;
  const needed = maxS === null ? 0 : Math.ceil((limits.lanes * 3600) / Math.max(30, maxS - ROLLOVER_LEAD_S));
  if (needed > limits.sessionsPerHour)
    warnings.push(
      `limits.sessionsPerHour is ${limits.sessionsPerHour}, but ${limits.lanes} lanes with sessions of ${maxS} s need ${needed}: raise it, or session.maxSessionDurationSeconds.`,
    );
  // On this machine nobody else publishes.
  if (signingKeyFile === null && !isLoopback(new URL(mqtt.url).hostname))
    warnings.push(
      'signingKeyFile is not set: devices cannot tell our answers from those of others. "dragoman-backend keys create" makes a pair.',
    );
  return warnings;
}
