/** `devices renew`: issues certificates for the devices' new keys, and sends them. */

import { randomBytes } from 'node:crypto';
import { readRequest } from '../../adapters/certificates/certificate-request.ts';
import { connectOperator, type OperatorClient } from '../../adapters/ctl/operator-client.ts';
import type { OperatorAccess } from '../../adapters/ctl/profile.ts';
import { createSigner } from '../../adapters/signing/signer.ts';
import { sleep } from '../../adapters/sleep.ts';
import type { BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { parseJson } from '../../protocol/json.ts';
import { certificateRequestSchema } from '../../protocol/mqtt/certificate.ts';
import { commandResponseSchema } from '../../protocol/mqtt/command.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { deviceTopics, operatorTopics } from '../../protocol/mqtt/topics.ts';
import { asWall } from '../../protocol/time.ts';
import { certify } from './authority.ts';
import { recordCertificate } from './devices.ts';
import { deviceName } from './setup.ts';
import { readAuthority, readSetup } from './store.ts';

/** After this silence (ms) all retained messages have arrived; the broker sends them without pauses. */
const SETTLED_MS = 1500;
const LOOK_EACH_MS = 50;
const VALID_FOR_MS = 3_600_000;
/** Shortest time between two certificates for one device (ms), so that repeated requests cost little. */
const SAME_DEVICE_EACH_MS = 600_000;
const CERTIFICATE_REQUEST = 'cert/req';
const ANSWER = 'cmd/certificate/res';

/** `renewed`: the device has connected with its new certificate. `sent`: it has the certificate, but has not connected with it yet. */
export type RenewalStatus = 'renewed' | 'sent' | 'silent' | 'refused';

export interface Renewal {
  readonly device: string;
  status: RenewalStatus;
  /** Why the renewal was refused, and by whom. */
  message: string | null;
  validTo: string | null;
}

interface Asked extends Renewal {
  /** Id of the request, and of the command that answers it. */
  readonly request: string;
  command: string | null;
  readonly at: number;
}

export interface RenewalParts {
  readonly folder: string;
  readonly access: OperatorAccess;
  readonly clock: Clock;
  readonly days: number;
  /** Only these devices; null: all. */
  readonly only: readonly string[] | null;
  /** Time for devices to use their new certificates. */
  readonly waitMs: number;
  /** Devices that get the command to request a certificate. */
  readonly prompt: readonly string[];
  /** Runs until this promise settles; null: until all devices are served. */
  readonly until: Promise<void> | null;
  report(renewal: Renewal): void;
}

/** @throws BrokerFailure, Failure */
export async function renewDevices(parts: RenewalParts): Promise<readonly Renewal[]> {
  const { access, clock, report } = parts;
  const { prefix, tenant } = access.profile;
  const topics = operatorTopics(prefix, tenant);
  const asked = new Map<string, Asked>();
  let newsAt = clock.now();
  const settle = (one: Asked, status: RenewalStatus, message: string | null = null): void => {
    if (one.status === status) return;
    Object.assign(one, { status, message });
    newsAt = clock.now();
    if (status !== 'sent') report(one);
  };

  const hear = ({ topic, payload }: BusMessage): void => {
    const read = topics.read(topic);
    if (read === null) return;
    const known = asked.get(read.device);
    if (read.rest === ANSWER) return hearAnswer(known, payload, settle);
    if (read.rest !== CERTIFICATE_REQUEST) return;
    newsAt = clock.now();
    if (payload === '') {
      if (known?.status === 'sent' || known?.status === 'silent') settle(known, 'renewed');
      return;
    }
    answer(read.device, payload);
  };
  const answer = (device: string, payload: string): void => {
    if (parts.only !== null && !parts.only.includes(device)) return;
    const { success, data } = certificateRequestSchema.safeParse(parseJson(payload));
    const id = success ? data.id : '';
    const known = asked.get(device);
    if (known !== undefined && (known.request === id || clock.now() - known.at < SAME_DEVICE_EACH_MS)) return;
    const one = newlyAsked(`${tenant}/${device}`, id, clock.now());
    asked.set(device, one);
    const made = success ? certifyDevice(parts, device, data.csr) : 'its request cannot be read';
    if (typeof made === 'string') return settle(one, 'refused', made);
    one.validTo = timestamp(asWall(made.validTo));
    void send(client, parts, device, one, made.certificate).catch(() =>
      settle(one, 'refused', 'the certificate could not be signed with the signing key'),
    );
  };

  const filters = [CERTIFICATE_REQUEST, ANSWER].map((rest) => `${prefix}/${tenant}/+/${rest}`);
  const early: BusMessage[] = [];
  let take = (message: BusMessage): void => void early.push(message);
  const client = await connectOperator(access.connection, clock, filters, {
    message: (message) => take(message),
    refused: (reason) => {
      for (const one of asked.values())
        if (one.status === 'silent')
          settle(one, 'refused', `the broker does not pass the message on (${reason})`);
    },
  });
  take = hear;
  // The wait for messages begins once connected, however long connecting took.
  newsAt = clock.now();
  for (const message of early) hear(message);
  try {
    for (const device of parts.prompt) {
      const ask = await commandTo(parts, device, {});
      const one = newlyAsked(`${tenant}/${device}`, '', Number.NEGATIVE_INFINITY);
      asked.set(device, { ...one, command: ask.id });
      client.publish(ask.topic, ask.payload, { qos: 1 });
    }
    if (parts.until !== null) await parts.until;
    else {
      const end = clock.now() + parts.waitMs;
      const isOpen = (): boolean =>
        [...asked.values()].some(({ status }) => status === 'sent' || status === 'silent');
      const isSettled = (): boolean => clock.now() - newsAt >= SETTLED_MS && !isOpen();
      while (!isSettled() && clock.now() < end) await sleep(clock, LOOK_EACH_MS);
    }
  } finally {
    await client.close();
  }
  return [...asked.values()];
}

/** @param request empty: the device got the command to request a certificate, but has not done so yet */
function newlyAsked(device: string, request: string, at: number): Asked {
  return { device, status: 'silent', message: null, validTo: null, request, command: null, at };
}

function hearAnswer(
  known: Asked | undefined,
  payload: string,
  settle: (one: Asked, status: RenewalStatus, message?: string) => void,
): void {
  const { success, data } = commandResponseSchema.safeParse(parseJson(payload));
  if (known === undefined || !success || data.id !== known.command) return;
  if (data.status === 'ok' && known.status === 'silent' && known.request !== '') settle(known, 'sent');
  if (data.status === 'error' || data.status === 'expired')
    settle(known, 'refused', `the device says: ${data.error?.message ?? 'too late'}`);
}

/** @returns the certificate, or why there is none */
function certifyDevice(
  { folder, days, access }: RenewalParts,
  device: string,
  csr: string,
): { certificate: string; validTo: number } | string {
  const { tenant } = access.profile;
  const setup = readSetup(folder);
  const known = setup.devices.find((one) => one.tenant === tenant && one.device === device);
  if (known === undefined || known.disabled) return 'it is disabled, or has no login in this set-up';
  const request = readRequest(csr);
  if (request === null) return 'its request is damaged, or not of a P-256 key';
  const name = deviceName(known);
  if (request.commonName !== name) return `its request is for the name "${request.commonName.slice(0, 80)}"`;
  const [signing = ''] = setup.authorities;
  const certificate = certify(readAuthority(folder, signing), request.publicKey, {
    usage: 'client',
    name,
    days,
  });
  return { certificate, validTo: recordCertificate(folder, known, certificate) };
}

async function send(
  client: OperatorClient,
  parts: RenewalParts,
  device: string,
  one: Asked,
  certificate: string,
): Promise<void> {
  const { id, topic, payload } = await commandTo(parts, device, { request: one.request, certificate });
  one.command = id;
  client.publish(topic, payload, { qos: 1 });
}

/** Sends a command, signed if the profile has a key. */
async function commandTo(
  { access, clock }: RenewalParts,
  device: string,
  args: object,
): Promise<{ id: string; topic: string; payload: string }> {
  const { prefix, tenant } = access.profile;
  const { base, command } = deviceTopics({ prefix, tenant, device });
  const id = randomBytes(12).toString('base64url');
  const wall = clock.wall();
  const not_after = timestamp(wall === null ? null : asWall(wall + VALID_FOR_MS));
  const body = { id, args, ...(not_after !== null && { not_after }) };
  const payload =
    access.signingKey === null
      ? body
      : {
          id,
          jws: await createSigner(access.signingKey).sign(
            'dragoman+command',
            base,
            { ...body, cmd: 'certificate' },
            wall,
          ),
        };
  return { id, topic: command('certificate'), payload: JSON.stringify(payload) };
}
