import type { MqttConnection } from '../../adapters/mqtt/endpoint.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import type { BackendSecrets } from './secrets.ts';

/** The backend's connection to the broker, under this name. */
export function brokerLogin(
  { mqtt }: BackendConfig,
  secrets: Pick<BackendSecrets, 'mqttPassword' | 'brokerTls'>,
  clientId: string,
): MqttConnection {
  const { url, username, version } = mqtt;
  return {
    url,
    clientId,
    version,
    ...(username !== null && { username }),
    ...(secrets.mqttPassword && { password: secrets.mqttPassword }),
    ...secrets.brokerTls,
  };
}
