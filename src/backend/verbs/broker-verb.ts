import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import { asciiHost } from '../../protocol/host-name.ts';
import { nameSchema, prefixSchema } from '../../protocol/mqtt/topics.ts';
import { ROLES, type Role } from '../broker/access.ts';
import { type Chosen, initBroker } from '../broker/init.ts';
import { checked, gather } from '../broker/option-values.ts';
import { DEVICE_LOGINS, FORMS, hostSchema, pathSchema, personNameSchema } from '../broker/setup.ts';
import { addAuthorityVerb } from './authority-verb.ts';

interface Options {
  readonly tenant: string;
  readonly host: string;
  readonly form: Chosen['form'];
  readonly deviceLogin: Chosen['deviceLogin'];
  readonly person?: readonly string[];
  readonly prefix: string;
  readonly devicePort: number;
  readonly peoplePort: number;
  readonly listen?: string;
  readonly installedAt?: string;
  readonly plugin?: string;
  readonly json?: true;
}

/** `broker init`: sets up a mosquitto in which each device reaches its own topics and nothing else. */
export function addBrokerVerb(program: Command, shell: Shell): void {
  const broker = program
    .command('broker')
    .description('set up a broker in which each device reaches its own topics and nothing else');
  addAuthorityVerb(broker, shell);
  broker
    .command('init')
    .description('write a mosquitto set-up: authority, certificate, logins, access rules, limits')
    .argument('<folder>', 'new folder for the set-up')
    .requiredOption('--tenant <name>', 'tenant that the --person logins manage')
    .requiredOption('--host <host>', "the broker's name or address, as devices connect to it")
    .addOption(
      new Option('--form <form>', 'how rules are written: dynsec (mosquitto 2.0 and 2.1), acl (2.0)')
        .choices(FORMS)
        .default('dynsec'),
    )
    .addOption(
      new Option('--device-login <kind>', 'how devices log in').choices(DEVICE_LOGINS).default('password'),
    )
    .option(
      '--person <name=role>',
      `a person who gets a login, with a role: ${ROLES.join(', ')}; may be repeated`,
      gather,
    )
    .option('--prefix <levels>', 'first levels of every topic', 'dragoman/v1')
    .option('--device-port <port>', 'where devices connect', port, 8883)
    .option('--people-port <port>', 'where the backend and people connect', port, 8884)
    .option('--listen <address>', 'listen on this address only')
    .option('--installed-at <path>', 'path of the folder "broker" on the broker\'s machine')
    .option('--plugin <path>', "the dynamic security plugin on the broker's machine")
    .option('--json', 'print one line: {"broker": {"folder", "handed_out"}}')
    .addHelpText(
      ...examples(
        'dragoman-backend broker init museum --tenant museum --host broker.example \\\n    --person anna=administrator',
      ),
    )
    .action((folder: string, options: Options) => init(shell, folder, options));
}

function init(shell: Shell, given: string, options: Options): void {
  const { folder, handedOut } = initBroker(given, choose(given, options));
  if (options.json) {
    shell.print(jsonLine({ broker: { folder, handed_out: handedOut } }));
    return;
  }
  shell.print(
    [
      `set up in    ${folder} (README.txt explains each file)`,
      `authority    ${folder}/authority (keep ca.key off the broker's machine)`,
      `broker       ${folder}/broker (goes to the broker's machine)`,
      ...handedOut.map((own) => `login        ${own}`),
      `next         dragoman-backend devices add NAME --broker ${given}`,
      '',
    ].join('\n'),
  );
}

/** The host in ASCII, as it is looked up and written in the certificate. */
function asciiName(host: string): string {
  return /^\p{ASCII}*$/u.test(host) ? host : (asciiHost(host) ?? host);
}

function choose(given: string, options: Options): Chosen {
  const { form, deviceLogin, devicePort, peoplePort, listen } = options;
  if (devicePort === peoplePort)
    throw new Failure(
      '--device-port and --people-port must differ: devices and people log in on different ports',
      EXIT.usage,
    );
  const installedAt = options.installedAt ?? `${resolve(given)}/broker`;
  return {
    form,
    deviceLogin,
    devicePort,
    peoplePort,
    tenant: checked('--tenant', nameSchema, options.tenant),
    host: checked('--host', hostSchema, asciiName(options.host)),
    listen: listen === undefined ? null : checked('--listen', hostSchema, listen),
    prefix: checked('--prefix', prefixSchema, options.prefix),
    installedAt: checked('--installed-at', pathSchema, installedAt),
    pluginFile: checked('--plugin', pathSchema, options.plugin ?? debianPlugin()),
    people: readPeople(options.person),
  };
}

function readPeople(given: readonly string[] | undefined): Chosen['people'] {
  // Without names, one login for each role: safer than a shared login with all rights.
  const people = (given ?? ROLES.map((role) => `${role}=${role}`)).map((text) => {
    const [name = '', role, ...rest] = text.split('=');
    if (rest.length > 0 || !isRole(role))
      throw new Failure(`--person must be NAME=ROLE with a role of ${ROLES.join(', ')}`, EXIT.usage);
    return { name: checked('--person', personNameSchema, name), role };
  });
  const names = people.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Failure(`--person names "${twice}" twice: one role each`, EXIT.usage);
  return people;
}

function isRole(text: string | undefined): text is Role {
  return ROLES.some((role) => role === text);
}

function port(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= 65_535) return number;
  throw new InvalidArgumentError('It must be a number from 1 to 65535.');
}

const DEBIAN_ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
  arm: 'arm-linux-gnueabihf',
};

/** Path of the plugin in Debian's package, on a machine of this architecture. */
function debianPlugin(): string {
  const folder = DEBIAN_ARCHITECTURES[process.arch] ?? 'x86_64-linux-gnu';
  return `/usr/lib/${folder}/mosquitto_dynamic_security.so`;
}
