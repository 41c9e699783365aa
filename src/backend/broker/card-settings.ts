/** Provisioning files of many devices, generated from one template plus the values of each device. */
import { isObject } from '../../protocol/common/json.ts';

/** Stands for the number of a device in the template and in its name. */
export const NUMBER = '{n}';
const FEWEST_DIGITS = 2;

/** Names of `count` devices, all with the same number of digits: `kiosk-01` to `kiosk-20`. */
export function numbered(pattern: string, first: number, count: number): { name: string; number: string }[] {
  const digits = Math.max(FEWEST_DIGITS, String(first + count - 1).length);
  return Array.from({ length: count }, (_, index) => {
    const number = String(first + index).padStart(digits, '0');
    return { name: pattern.replaceAll(NUMBER, number), number };
  });
}

/** Replaces `{n}` with the number in all strings of a value. */
export function withNumber(value: unknown, number: string): unknown {
  if (typeof value === 'string') return value.replaceAll(NUMBER, number);
  if (Array.isArray(value)) return value.map((item) => withNumber(item, number));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withNumber(part, number)]));
}

/** Keys that are set for each device. A template must not have them: all devices would get the same value. */
const OWN: readonly (readonly string[])[] = [
  ['secrets'],
  ['caPem'],
  ['certPem'],
  ['keyPem'],
  ['config', 'device', 'id'],
  ['config', 'device', 'tenant'],
  ['config', 'mqtt', 'url'],
  ['config', 'mqtt', 'username'],
  ['config', 'mqtt', 'prefix'],
];

/** The first key of the template that it must not have; null if there is none. */
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

/** The first part to be filled in that exists but is not an object; null if there is none. */
export function brokenPartOf(template: Readonly<Record<string, unknown>>): string | null {
  const { config = {} } = template;
  if (!isObject(config)) return 'config';
  const part = ['device', 'mqtt'].find((key) => config[key] !== undefined && !isObject(config[key]));
  return part === undefined ? null : `config.${part}`;
}

/** Whether the template restricts the hosts of streams: otherwise any answer could choose where the microphone's sound goes. */
export function namesHosts({ config }: Readonly<Record<string, unknown>>): boolean {
  const service = isObject(config) ? config['service'] : null;
  const hosts = isObject(service) ? service['hosts'] : null;
  return Array.isArray(hosts) && hosts.length > 0;
}

/** A device's login. */
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
/** Installs the packages that lie on the boot partition; one of them may be Node.js. Without a network apt uses its old lists. */
const INSTALL = [
  'set -e',
  'export DEBIAN_FRONTEND=noninteractive',
  'apt-get update || true',
  `apt-get install --yes --no-install-recommends ${BOOT}/dragoman*.deb`,
  'systemctl start dragoman-provision.service',
  // user-data contains the secrets of dragoman.json, too.
  `shred -n 1 -z ${BOOT}/user-data`,
  `printf '#cloud-config\\n{}\\n' >${BOOT}/user-data`,
].join('; ');

/**
 * The provisioning file as `user-data` of cloud-init. External values are written as base64 or ASCII JSON: both are valid YAML.
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
# ${tenant}/${device}, made by "dragoman-backend devices template". It contains secrets.
hostname: ${asciiJson(device)}
${login}write_files:
  - path: ${BOOT}/dragoman.json
    # FAT allows no other permissions.
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
