import { join } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import { deviceIdSchema, nameSchema } from '../../protocol/mqtt/topics.ts';
import { NUMBER, numbered } from '../broker/card-settings.ts';
import { type Added, addDevices, DEVICE_DAYS, replaceDevices } from '../broker/devices.ts';
import { howToApply } from '../broker/explanation.ts';
import { checked, days, gather } from '../broker/option-values.ts';
import { readSetup } from '../broker/store.ts';
import { makeOutFolder, readOwnerKeys, readTemplate, writeDeviceFile } from '../broker/templates.ts';

interface Options {
  readonly broker: string;
  readonly template: string;
  readonly name: string;
  readonly count: number;
  readonly first: number;
  readonly group?: string[];
  readonly ownerKey?: string[];
  readonly days: number;
  readonly replace?: true;
  readonly cloudInit?: true;
  readonly json?: true;
}

const MOST_DEVICES = 1000;

/** `devices template`: creates logins and provisioning files for many devices at once. */
export function addTemplateVerb(devices: Command, shell: Shell): void {
  devices
    .command('template')
    .description('make logins for many devices, and write dragoman.json for the card of each')
    .argument('<folder>', 'new or empty folder; it gets a folder for each device')
    .requiredOption('--broker <folder>', 'the set-up that "broker init" has made')
    .requiredOption(
      '--template <file>',
      `a dragoman.json with the common settings; ${NUMBER} in it stands for the number`,
    )
    .requiredOption('--name <pattern>', `the names of the devices, with ${NUMBER} for the number`)
    .option('--count <number>', 'how many', number, 1)
    .option('--first <number>', 'the first number', number, 1)
    .option('--group <name>', 'a group whose commands they may receive; may be repeated', gather)
    .option(
      '--owner-key <file>',
      "public key of the owner, PEM; may be repeated (default: the set-up's owner.pub.pem)",
      gather,
    )
    .option('--days <days>', 'validity of a certificate', days, DEVICE_DAYS)
    .option('--replace', 'for replacement boards; the logins of the old boards are no longer valid')
    .option('--cloud-init', 'write user-data for Raspberry Pi Imager instead of dragoman.json')
    .option('--json', 'print one line: {"devices": [{"device", "folder"}]}')
    .addHelpText(
      ...examples(
        "dragoman-backend devices template cards --count 20 --name 'kiosk-{n}' \\\n    --template kiosk.json --group lobby --broker museum",
      ),
    )
    .action((folder: string, options: Options) => writeFiles(shell, folder, options));
}

function number(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= MOST_DEVICES) return value;
  throw new InvalidArgumentError(`It must be a number from 1 to ${MOST_DEVICES}.`);
}

function writeFiles(shell: Shell, out: string, options: Options): void {
  const setup = readSetup(options.broker);
  if (options.count > 1 && !options.name.includes(NUMBER))
    throw new Failure(
      `--name must contain ${NUMBER}, as in "kiosk-${NUMBER}": otherwise all devices get the same name`,
      EXIT.usage,
    );
  const groups = (options.group ?? []).map((group) => checked(`--group "${group}"`, nameSchema, group));
  const names = numbered(options.name, options.first, options.count);
  const numbers = new Map(names.map(({ name, number }) => [name, number]));
  const template = readTemplate(options.template);
  const form = {
    out,
    isCloudInit: options.cloudInit === true,
    ownerKeys: readOwnerKeys(options.broker, options.ownerKey ?? []),
  };
  const wanted = names.map(({ name }) => ({
    tenant: setup.tenant,
    device: checked(`the device "${name}"`, deviceIdSchema, name),
    ...(options.group !== undefined && { groups: [...new Set(groups)] }),
  }));
  makeOutFolder(out);
  const make = options.replace ? replaceDevices : addDevices;
  const added = make(options.broker, wanted, {
    files: '.',
    days: options.days,
    give: (login) => writeDeviceFile(template, numbers.get(login.device) ?? '', login, form),
  });
  tell(shell, added, options);
}

function tell(shell: Shell, added: readonly Added[], { json, cloudInit, broker }: Options): void {
  if (json) {
    const devices = added.map(({ device, folder }) => ({ device, folder }));
    return shell.print(jsonLine({ devices }));
  }
  const file = cloudInit ? 'user-data' : 'dragoman.json';
  const lines = [
    ...added.map(({ device, folder }) => `${device}  ${join(folder, file)}`),
    cloudInit
      ? 'Copy each to the boot partition of its card, with the packages (dragoman_*.deb, dragoman-node_*.deb) beside it.'
      : 'Copy each to the boot partition of its card.',
    "Each contains its device's login: delete the folder when the kiosks run.",
    `On the broker's machine: ${howToApply(readSetup(broker))}.`,
  ];
  shell.print(`${lines.join('\n')}\n`);
}
