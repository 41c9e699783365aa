import { type BackendConfig, MEMORY_STORE } from '../../protocol/backend-config.ts';
import { isExposedAddress, isLoopback, readAddress } from '../../protocol/host-name.ts';
import { isReachable } from '../../protocol/listen.ts';

/** Default time before a session's limit at which a device requests the next session (s). */
const ROLLOVER_LEAD_S = 22;

/** Warnings about a valid configuration of the backend, one sentence each. */
export function backendWarnings(config: BackendConfig): string[] {
  const { mqtt, service, session, limits, signingKeyFile, store, metrics, console: page } = config;
  const warnings: string[] = [];
  if (isExposedAddress(mqtt.url))
    warnings.push(
      'mqtt.url leaves this machine unencrypted (mqtt.allowInsecure): others on the network can read every token. Use mqtts:// or wss://.',
    );
  if (isExposedAddress(service.url))
    warnings.push(
      'service.url leaves this machine unencrypted (service.allowInsecure): others on the network can read the API key. Use https://.',
    );
  const { maxSessionDurationSeconds: maxS } = session;
  const needed = maxS === null ? 0 : Math.ceil((limits.lanes * 3600) / Math.max(30, maxS - ROLLOVER_LEAD_S));
  if (needed > limits.sessionsPerHour)
    warnings.push(
      `limits.sessionsPerHour is ${limits.sessionsPerHour}, but ${limits.lanes} lanes with sessions of ${maxS} s need ${needed}: raise it, or session.maxSessionDurationSeconds.`,
    );
  // On a broker on this machine, no foreign client is expected.
  const isAlone = isLoopback(readAddress(mqtt.url)?.hostname ?? '');
  if (store.url === null && store.path === MEMORY_STORE && !isAlone)
    warnings.push(
      'store.path is not set: a restart forgets sessions and limits, and two backends do not know of each other. Name a file, such as "/var/lib/dragoman-backend/store.db".',
    );
  if (isReachable(metrics.listen))
    warnings.push(
      'metrics.listen: other machines can read the names and the state of all devices there. Allow only the machine of Prometheus to connect, or use 127.0.0.1.',
    );
  if (page.listen !== null && page.trustedProxies.length > 0 && page.hosts.length === 0)
    warnings.push(
      'console.hosts is empty, and console.trustedProxies is not: the console answers to any name that a proxy passes on. List its names.',
    );
  if (signingKeyFile === null && !isAlone)
    warnings.push(
      'signingKeyFile is not set: devices cannot verify that an answer comes from this backend. "dragoman-backend keys create" makes a pair.',
    );
  return warnings;
}
