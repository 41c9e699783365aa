/** Provisioning files of many devices, of one template: what is in it for all, and what each gets of its own. */
import { isObject } from '../../../protocol/json.ts';

/** Stands for the number of a device in the template and in its name. */
export const NUMBER = '{n}';
const FEWEST_DIGITS = 2;

/** Names of `count` devices, all with as many digits: `kiosk-01` to `kiosk-20`. */
export function numbered(pattern: string, first: number, count: number): { name: string; number: string }[] {
  const digits = Math.max(FEWEST_DIGITS, String(first + count - 1).length);
  return Array.from({ length: count }, (_, index) => {
    const number = String(first + index).padStart(digits, '0');
    return { name: pattern.replaceAll(NUMBER, number), number };
  });
}

/** The same value with the number in all of its texts. */
export function withNumber(value: unknown, number: string): unknown {
  if (typeof value === 'string') return value.replaceAll(NUMBER, number);
  if (Array.isArray(value)) return value.map((item) => withNumber(item, number));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withNumber(part, number)]));
}

/** What each device gets of its own; a template that has it would give all the same. */
const OWN: readonly (readonly string[])[] = [
  ...[['secrets'], ['caPem'], ['certPem'], ['keyPem']],
  ...[
    ['config', 'device', 'id'],
    ['config', 'device', 'tenant'],
    ['config', 'mqtt', 'url'],
  ],
  ...[
    ['config', 'mqtt', 'username'],
    ['config', 'mqtt', 'prefix'],
  ],
];

/** The first key that a template must not have; null where there is none. */
export function ownKeyIn(template: unknown): string | null {
  const isIn = (path: readonly string[]): boolean => {
    let holder = template;
    for (const step of path) {
      if (!isObject(holder) || !Object.hasOwn(holder, step)) return false;
      holder = holder[step];
    }
    return true;
  };
  return OWN.find(isIn)?.join('.') ?? null;
}

/** What is filled in must be an object where it is there: a path that is none; null where all are. */
export function brokenPartOf(template: Readonly<Record<string, unknown>>): string | null {
  const { config = {} } = template;
  if (!isObject(config)) return 'config';
  const part = ['device', 'mqtt'].find((key) => config[key] !== undefined && !isObject(config[key]));
  return part === undefined ? null : `config.${part}`;
}

/** What a device logs in with. */
export interface Login {
  readonly tenant: string;
  readonly device: string;
  readonly groups: readonly string[];
  readonly mqtt: { readonly url: string; readonly prefix: string; readonly username: string };
  readonly credential: { readonly password: string } | { readonly certificate: string; readonly key: string };
  readonly ca: string;
}

export function provisioningFile(
  template: Readonly<Record<string, unknown>>,
  { tenant, device, groups, mqtt, credential, ca }: Login,
  ownerKeys: readonly string[],
): Record<string, unknown> {
  const { config, ...rest } = template;
  const given = isObject(config) ? config : {};
  const part = (key: string): object => (isObject(given[key]) ? given[key] : {});
  const login =
    'password' in credential
      ? { secrets: { 'mqtt-password': credential.password } }
      : { certPem: credential.certificate, keyPem: credential.key };
  return {
    format: 1,
    ...rest,
    config: {
      ...given,
      device: { ...part('device'), tenant, id: device, groups },
      mqtt: { ...part('mqtt'), ...mqtt },
    },
    ...login,
    caPem: ca,
    ...(ownerKeys.length > 0 && { ownerKeysPem: ownerKeys }),
  };
}

const BOOT = '/boot/firmware';
/** The package may lie there with its own Node.js; without a network apt does without its lists. */
const INSTALL = [
  'set -e',
  'export DEBIAN_FRONTEND=noninteractive',
  'apt-get update || true',
  `apt-get install --yes --no-install-recommends ${BOOT}/dragoman*.deb`,
  'systemctl start dragoman-provision.service',
  // The secrets of dragoman.json stand in it, too.
  `shred -n 1 -z ${BOOT}/user-data`,
  `printf '#cloud-config\\n{}\\n' >${BOOT}/user-data`,
].join('; ');

/**
 * The same as `user-data` of cloud-init. Whatever comes from outside stands in it as base64 or as JSON of plain ASCII, both of
 * which are YAML.
 * @param encoded base64 of the file
 */
export function cloudInit(
  { tenant, device }: Pick<Login, 'tenant' | 'device'>,
  encoded: string,
  sshKeys: readonly string[],
): string {
  const keys = sshKeys.map((key) => `  - ${asciiJson(key)}\n`).join('');
  const login = sshKeys.length === 0 ? '' : `ssh_authorized_keys:\n${keys}ssh_pwauth: false\n`;
  const serve = sshKeys.length === 0 ? '' : '  - [systemctl, enable, --now, ssh]\n';
  return `#cloud-config
# ${tenant}/${device}, made by "dragoman-backend devices template". It holds secrets.
hostname: ${asciiJson(device)}
${login}write_files:
  - path: ${BOOT}/dragoman.json
    # What FAT allows: others are refused there.
    permissions: "0755"
    encoding: b64
    content: ${encoded}
runcmd:
${serve}  - [sh, -c, ${asciiJson(INSTALL)}]
`;
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
