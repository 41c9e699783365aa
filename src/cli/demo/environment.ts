import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyPair } from '../../adapters/signing/signing-keys.ts';
import { type Broker, startBroker } from './broker.ts';
import type { EnvironmentFault } from './faults.ts';

/** Identity of the demo's device. */
export const DEMO_DEVICE = { id: 'kiosk-01', tenant: 'demo' } as const;

/** A part of the environment that runs on its own. */
export interface Running {
  close(): Promise<void>;
}

/** Settings of the demo's backend. */
export interface BackendSetting {
  readonly brokerUrl: string;
  readonly serviceUrl: string;
  readonly apiKey: string;
  /** Private key (PEM) to sign answers. */
  readonly signingKeyFile: string;
  /** Who may sign in at the console; null: no console. */
  readonly console: ConsoleLogin | null;
}

/** Login of the demo's console. */
export interface ConsoleLogin {
  readonly name: string;
  readonly password: string;
}

/** Settings of the demo's translation service. */
export interface ServiceSetting {
  readonly apiKey: string;
  /** The emulator's option of this name. */
  readonly wholePhrasePercent: number;
}

/** Starts the parts: as separate programs, or within a test. */
export interface ProgramStarters {
  /** Starts the translation service; returns its HTTP address. */
  startService(options: ServiceSetting): Promise<Running & { url: string }>;
  startBackend(options: BackendSetting): Promise<Running & { readonly consoleAt?: string | null }>;
}

/** Broker, backend and service around the agent, on loopback. */
export interface DemoEnvironment {
  readonly brokerUrl: string;
  readonly serviceUrl: string;
  /** Public key (PEM) by which a device recognises its backend. */
  readonly ownerKeyFile: string;
  /** Null: no console. */
  readonly console: (ConsoleLogin & { readonly url: string }) | null;
  strike(fault: EnvironmentFault): Promise<void>;
  close(): Promise<void>;
}

/** Share of the reference duration at which the emulator recognises a whole phrase (percent): the fastest speaker needs 56 %. */
const WHOLE_PHRASE_PERCENT = 50;
/** Length of the broker outage (ms). */
const OUTAGE_MS = 4000;
/** Number of sessions that the service refuses to the backend. */
const DENIALS = 1;

export async function openEnvironment(
  programs: ProgramStarters,
  { hasConsole = false }: { readonly hasConsole?: boolean } = {},
): Promise<DemoEnvironment> {
  const apiKey = `demo-${randomBytes(18).toString('base64url')}`;
  const started: Running[] = [];
  const close = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) await part.close();
  };
  try {
    const keys = await makeKeys();
    started.push(keys);
    const { signingKeyFile, ownerKeyFile } = keys;
    const setting = { apiKey, wholePhrasePercent: WHOLE_PHRASE_PERCENT };
    const [broker, service] = await Promise.all([startBroker(), programs.startService(setting)]);
    started.push(broker, service);
    // Valid for this demo only: the backend's store is deleted with it.
    const login = hasConsole ? { name: 'demo', password: randomBytes(12).toString('base64url') } : null;
    const urls = { brokerUrl: broker.url, serviceUrl: service.url };
    const backend = await programs.startBackend({ ...urls, apiKey, signingKeyFile, console: login });
    started.push(backend);
    const { consoleAt = null } = backend;
    return {
      brokerUrl: broker.url,
      serviceUrl: service.url,
      ownerKeyFile,
      console: login === null || consoleAt === null ? null : { ...login, url: consoleAt },
      strike: (fault) => strike(fault, broker, service.url),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates keys for this environment, in a temporary folder. */
async function makeKeys(): Promise<Running & { signingKeyFile: string; ownerKeyFile: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-keys-'));
  const { privatePem, publicPem } = createKeyPair();
  const signingKeyFile = join(folder, 'signing.key.pem');
  const ownerKeyFile = join(folder, 'signing.pub.pem');
  await writeFile(signingKeyFile, privatePem, { mode: 0o600 });
  await writeFile(ownerKeyFile, publicPem, { mode: 0o644 });
  return { signingKeyFile, ownerKeyFile, close: () => rm(folder, { recursive: true, force: true }) };
}

async function strike(fault: EnvironmentFault, broker: Broker, serviceUrl: string): Promise<void> {
  switch (fault) {
    case 'revoke':
      return order(serviceUrl, { kind: 'revoke' });
    case 'max-duration':
      return order(serviceUrl, { kind: 'max_duration' });
    case 'network-drop':
      return order(serviceUrl, { kind: 'drop' });
    case 'broker-drop':
      // The stream must break, too, because the agent needs the broker only for a token.
      broker.pause();
      setTimeout(() => broker.resume(), OUTAGE_MS);
      return order(serviceUrl, { kind: 'drop' });
    case 'token-denied':
      await order(serviceUrl, {
        kind: 'http',
        route: 'create',
        status: 429,
        retry_after_s: 2,
        times: DENIALS,
      });
      return order(serviceUrl, { kind: 'revoke' });
  }
}

async function order(serviceUrl: string, fault: Record<string, unknown>): Promise<void> {
  const response = await fetch(new URL('/emulator/faults', serviceUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  });
  if (!response.ok) throw new Error(`the service emulator refused the fault (HTTP ${response.status})`);
  await response.body?.cancel();
}
