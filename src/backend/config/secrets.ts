import type { PrivateKey } from '../../adapters/signing/signing-keys.ts';

/** Secrets, read from the files that the configuration names. */
export interface BackendSecrets {
  /** Called for each request to the service. An error that it throws must not contain the key. */
  readonly apiKey: () => string;
  readonly mqttPassword?: () => string;
  readonly brokerTls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  readonly serviceCa?: Buffer;
  readonly storePassword?: () => string;
  readonly webhookSecret?: () => string;
  /** Signs the answers. */
  readonly signingKey?: PrivateKey;
  /** Reads certificate and key of the console (PEM). Called regularly, because they may be renewed. */
  readonly consoleTls?: () => { readonly cert: string; readonly key: string };
}
