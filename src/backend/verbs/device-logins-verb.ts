import type { Command } from 'commander';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import type { EndSignals } from '../../program/signals.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import { deviceIdSchema, nameSchema } from '../../protocol/mqtt/topics.ts';
import { type Added, addDevices, changeDevice, DEVICE_DAYS, replaceDevices } from '../broker/devices.ts';
import { howToApply } from '../broker/explanation.ts';
import { checked, days, gather } from '../broker/option-values.ts';
import { pathSchema, type Setup } from '../broker/setup.ts';
import { readSetup } from '../broker/store.ts';
import { addRenewVerb } from './renew-verb.ts';
import { addTemplateVerb } from './template-verb.ts';

interface Common {
  readonly broker: string;
  readonly json?: true;
}

interface AddOptions extends Common {
  readonly group?: string[];
  readonly files: string;
  readonly days: number;
  readonly replace?: true;
}

const BROKER = ['--broker <folder>', 'the set-up that "broker init" has made'] as const;
const NAME = '"kiosk-01" of the set-up\'s tenant, or "tenant/kiosk-01"';

/** `devices`: manages the logins of devices at a broker that `broker init` has set up. */
export function addDevicesVerb(program: Command, shell: Shell, signals: EndSignals): void {
  const devices = program
    .command('devices')
    .description('add, change and disable the logins of devices at the broker of "broker init"');
  devices
    .command('add')
    .description('make a login and a part of the configuration for each device')
    .argument('<device...>', NAME)
    .requiredOption(...BROKER)
    .option('--group <name>', 'a group whose commands it may receive; may be repeated', gather)
    .option('--files <folder>', 'folder of the login files on the device; ".": beside its configuration', '.')
    .option('--replace', 'for a replacement board; the login of the old board is no longer valid')
    .option('--days <days>', 'validity of a certificate', days, DEVICE_DAYS)
    .option('--json', 'print one line: {"devices": [{"device", "folder", "config"}]}')
    .addHelpText(...examples('dragoman-backend devices add kiosk-01 kiosk-02 --group lobby --broker museum'))
    .action((names: string[], options: AddOptions) => add(shell, names, options));
  devices
    .command('list')
    .description('print the devices that have a login')
    .requiredOption(...BROKER)
    .option('--json', 'print one line: {"devices": [{"device", "groups", "login", "disabled"}]}')
    .addHelpText(...examples('dragoman-backend devices list --broker museum'))
    .action((options: Common) => list(shell, options));
  devices
    .command('disable')
    .description('end the login of a device')
    .argument('<device>', NAME)
    .requiredOption(...BROKER)
    .addHelpText(...examples('dragoman-backend devices disable kiosk-01 --broker museum'))
    .action((name: string, { broker }: Common) => change(shell, name, broker, { disabled: true }));
  addTemplateVerb(devices, shell);
  addRenewVerb(devices, shell, signals);
  devices
    .command('set')
    .description('change what a device may reach')
    .argument('<device>', NAME)
    .requiredOption(...BROKER)
    .option('--group <name>', 'a group of the device from now on; may be repeated', gather)
    .option('--no-groups', 'remove the device from all groups')
    .option('--enable', 'let the device log in again')
    .addHelpText(...examples('dragoman-backend devices set kiosk-01 --group hall --broker museum'))
    .action((name: string, options: Common & { group?: string[]; groups: boolean; enable?: true }) => {
      const groups = options.groups ? options.group : [];
      if (groups === undefined && !options.enable)
        throw new Failure('give --group, --no-groups or --enable: there is nothing to set', EXIT.usage);
      change(shell, name, options.broker, {
        ...(groups && { groups: readGroups(groups) }),
        ...(options.enable && { disabled: false }),
      });
    });
}

function add(shell: Shell, names: readonly string[], options: AddOptions): void {
  const setup = readSetup(options.broker);
  const groups = options.group === undefined ? {} : { groups: readGroups(options.group) };
  const files = checked('--files', pathSchema, options.files);
  const wanted = names.map((name) => ({ ...readName(name, setup), ...groups }));
  const make = options.replace ? replaceDevices : addDevices;
  const added = make(options.broker, wanted, { files, days: options.days });
  if (options.json) {
    shell.print(jsonLine({ devices: added }));
    return;
  }
  const line = ({ device, folder }: Added): string => `${device}  ${folder}`;
  const next = [
    'Copy each folder to its device and install it there: docs/fleet.md has the commands. Then delete the folder.',
    `On the broker's machine: ${howToApply(readSetup(options.broker))}.`,
    ...(options.replace ? ['Until then the old board can log in, and the new board cannot.'] : []),
  ];
  shell.print(`${[...added.map(line), ...next].join('\n')}\n`);
}

function list(shell: Shell, { broker, json }: Common): void {
  const devices = readSetup(broker).devices.map(({ tenant, device, groups, password, disabled }) => ({
    device: `${tenant}/${device}`,
    groups,
    disabled,
    login: password === null ? 'certificate' : 'password',
  }));
  if (json) {
    shell.print(jsonLine({ devices }));
    return;
  }
  const lines = devices.map(({ device, groups, login, disabled }) =>
    [device, disabled ? 'disabled' : login, ...groups].join('  '),
  );
  shell.print(lines.length === 0 ? 'no device has a login\n' : `${lines.join('\n')}\n`);
}

function change(
  shell: Shell,
  name: string,
  broker: string,
  changes: { groups?: string[]; disabled?: boolean },
): void {
  const setup = readSetup(broker);
  changeDevice(broker, readName(name, setup), changes);
  shell.print(`${name}: written. On the broker's machine: ${howToApply(setup)}.\n`);
}

function readName(text: string, setup: Setup): { tenant: string; device: string } {
  const [first = '', second, ...rest] = text.split('/');
  if (rest.length > 0) throw new Failure(`"${text}" must be a device, or tenant/device`, EXIT.usage);
  const [tenant, device] = second === undefined ? [setup.tenant, first] : [first, second];
  return {
    tenant: checked(`the tenant of "${text}"`, nameSchema, tenant),
    device: checked(`the device "${text}"`, deviceIdSchema, device),
  };
}

function readGroups(groups: readonly string[]): string[] {
  return [...new Set(groups.map((group) => checked(`--group "${group}"`, nameSchema, group)))];
}
