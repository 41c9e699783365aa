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
  /** Certificate and key of the console, PEM. Called again to see whether they were renewed. */
  readonly consoleTls?: () => { readonly cert: string; readonly key: string };
}
