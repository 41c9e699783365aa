import type { Command } from 'commander';
import { createSystemClock } from '../../adapters/clock.ts';
import { BrokerFailure, operatorClientId } from '../../adapters/ctl/operator-client.ts';
import { type OperatorAccess, openProfile, ProfileError } from '../../adapters/ctl/profile.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { type EndSignals, untilAskedToEnd } from '../../program/signals.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { DEVICE_DAYS } from '../broker/devices.ts';
import { days, seconds } from '../broker/option-values.ts';
import { type Renewal, renewDevices } from '../broker/renewals.ts';
import type { Setup } from '../broker/setup.ts';
import { readAuthority, readSetup } from '../broker/store.ts';

interface Options {
  readonly broker: string;
  readonly profile?: string;
  readonly days: number;
  readonly wait: number;
  readonly now?: true;
  readonly follow?: true;
  readonly json?: true;
}

/** `devices renew`: issues the next certificate for each device that asks for one. */
export function addRenewVerb(devices: Command, shell: Shell, signals: EndSignals): void {
  devices
    .command('renew')
    .description('certify the new keys of devices whose certificates expire soon')
    .argument('[device...]', 'devices of the tenant (default: all that ask)')
    .requiredOption(
      '--broker <folder>',
      'the set-up that "broker init" has made, with the key of its authority',
    )
    .option(
      '--profile <name>',
      "an administrator's profile in ~/.config/dragoman/ctl.json (default: its default profile)",
    )
    .option('--days <days>', 'validity of the certificates', days, DEVICE_DAYS)
    .option('--wait <seconds>', 'time for the devices to connect with the new certificates', seconds, 60)
    .option('--now', 'make the devices ask now, before renewal is due')
    .option('--follow', 'serve devices that ask until SIGTERM')
    .option('--json', 'print one line for each: {"device", "status", "valid_to", "message"}')
    .addHelpText(...examples('dragoman-backend devices renew --broker museum'))
    .action((names: string[], options: Options) => renew(shell, signals, names, options));
}

async function renew(shell: Shell, signals: EndSignals, names: string[], options: Options): Promise<void> {
  const setup = readSetup(options.broker);
  if (setup.deviceLogin !== 'certificate')
    throw new Failure(
      'the devices of this set-up have passwords, which do not expire: there is nothing to renew',
    );
  // Fails before any device gets a command.
  readAuthority(options.broker, setup.authorities[0] ?? '');
  const access = openAccess(shell, setup, options.profile);
  const unknown = names.find((name) => !setup.devices.some(({ device }) => device === name));
  if (unknown !== undefined)
    throw new Failure(
      `${unknown} has no login here: "dragoman-backend devices list" shows those that have`,
      EXIT.usage,
    );
  const report = (one: Renewal): void =>
    shell.print(options.json ? jsonLine(asJson(one)) : textLine(sentence(one)));
  const renewals = await renewDevices({
    folder: options.broker,
    access,
    clock: createSystemClock(),
    days: options.days,
    report,
    only: names.length === 0 ? null : names,
    prompt: options.now ? reachable(setup, names) : [],
    waitMs: options.wait * 1000,
    until: options.follow ? untilAskedToEnd(signals) : null,
  }).catch((error: unknown) => {
    throw error instanceof BrokerFailure ? new Failure(error.message) : error;
  });
  const open = renewals.filter(({ status }) => status === 'sent' || status === 'silent');
  for (const one of open) report(one);
  if (renewals.length === 0 && !options.json) shell.print('no device asks for a certificate\n');
  if (renewals.some(({ status }) => status === 'refused')) shell.finish(EXIT.failed);
  else if (open.length > 0) shell.finish(EXIT.noAnswer);
}

/** Devices that may log in, in the set-up's tenant only: its administrators have no access to other tenants. */
function reachable({ devices, tenant }: Setup, names: readonly string[]): string[] {
  const able = devices.filter((one) => one.tenant === tenant && !one.disabled).map(({ device }) => device);
  return names.length === 0 ? able : able.filter((device) => names.includes(device));
}

function openAccess(
  { env, complain }: Shell,
  { prefix, tenant }: Setup,
  name: string | undefined,
): OperatorAccess {
  let access: OperatorAccess;
  try {
    access = openProfile(name, env, operatorClientId());
  } catch (error) {
    throw error instanceof ProfileError ? new Failure(error.message, EXIT.usage) : error;
  }
  for (const sentence of access.warnings ?? []) complain(textLine(`warning: ${sentence}`));
  if (access.profile.tenant === tenant && access.profile.prefix === prefix) return access;
  throw new Failure(
    `the profile is for ${access.profile.prefix}/${access.profile.tenant}, and the set-up for ${prefix}/${tenant}: name another with --profile`,
    EXIT.usage,
  );
}

function asJson({ device, status, validTo, message }: Renewal): object {
  return { device, status, valid_to: validTo, message };
}

function sentence({ device, status, validTo, message }: Renewal): string {
  const until = validTo?.slice(0, 10) ?? '';
  switch (status) {
    case 'renewed':
      return `${device}  renewed until ${until}`;
    case 'sent':
      return `${device}  has its certificate, and has not connected with it yet`;
    case 'silent':
      return `${device}  did not answer: try again when it is online`;
    case 'refused':
      return `${device}  refused: ${message ?? 'unknown reason'}`;
  }
}
