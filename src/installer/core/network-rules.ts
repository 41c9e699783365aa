/**
 * Configuration files for both network managers. External values appear in them only as hexadecimal digits, numbers, two
 * letters or IPv4 addresses, so no name or passphrase can add a line of its own.
 */
import type { ProvisioningDocument, StaticAddress, WifiPart } from '../../protocol/provisioning.ts';
import type { NetworkBackend } from './outcome.ts';
import { type FileWrite, PLACES, publicFile, SUPPLICANT_UNIT, secretFile, type Write } from './places.ts';

type Address = NonNullable<ProvisioningDocument['address']>;

/** Higher than the priority of an installer's profile, so that the file wins. */
const PRIORITY = 10;
const WIFI_UUID = '6d1f7b0e-5d0b-4c39-9a51-2f6f2f3f7a10';
const WIRED_UUID = '6d1f7b0e-5d0b-4c39-9a51-2f6f2f3f7a11';

export interface WifiNetwork {
  readonly part: WifiPart;
  /** 64 hexadecimal digits derived from passphrase and name; null: an open network. */
  readonly key: string | null;
}

/** @param wifi null: wired network */
export function networkWrites(backend: NetworkBackend, wifi: WifiNetwork | null, address: Address): Write[] {
  const country = wifi?.part.country;
  const regulatory = country === undefined ? [] : [regulatoryFile(country)];
  if (backend === 'networkmanager') {
    const place = wifi === null ? PLACES.managerWired : PLACES.managerWifi;
    return [...regulatory, secretFile(place, managerProfile(wifi, address), 'root')];
  }
  if (wifi === null) {
    return [publicFile(PLACES.networkdWired, networkdFile(['Name=en* eth*', 'Type=ether'], address))];
  }
  return [
    ...regulatory,
    secretFile(PLACES.supplicant, supplicantFile(wifi), 'root'),
    publicFile(PLACES.networkdWifi, networkdFile(['Name=wlan0'], address)),
    { kind: 'link', path: PLACES.supplicantWanted, target: SUPPLICANT_UNIT },
  ];
}

/** Switches Wi-Fi on: Raspberry Pi OS ships NetworkManager with it off. @param state present content of the state file */
export function radioWrites(backend: NetworkBackend, state: string | null): Write[] {
  const off = /^WirelessEnabled=false$/m;
  if (backend !== 'networkmanager' || state === null || !off.test(state)) return [];
  return [secretFile(PLACES.managerState, state.replace(off, 'WirelessEnabled=true'), 'root')];
}

/** Finds the network key in the present file, after the passphrase was removed from dragoman.json. */
export function keyKeptFor(backend: NetworkBackend, ssid: string, present: string | null): string | null {
  const line = backend === 'networkmanager' ? managerSsid(ssid) : supplicantSsid(ssid);
  const lines = (present ?? '').split('\n').map((text) => text.trim());
  if (!lines.includes(line)) return null;
  return lines.map((text) => /^psk=([0-9a-f]{64})$/.exec(text)?.[1]).find((key) => key !== undefined) ?? null;
}

/** File from which `keyKeptFor` reads the key. */
export function keyPlace(backend: NetworkBackend): string {
  return backend === 'networkmanager' ? PLACES.managerWifi : PLACES.supplicant;
}

const bytesOf = (text: string): number[] => [...new TextEncoder().encode(text)];
const supplicantSsid = (ssid: string): string =>
  `ssid=${bytesOf(ssid)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`;
/** A list of numbers with semicolons: a form of a keyfile value that needs no quoting. */
const managerSsid = (ssid: string): string =>
  `ssid=${bytesOf(ssid)
    .map((byte) => `${byte};`)
    .join('')}`;

const section = (name: string, ...lines: readonly string[]): string => `[${name}]\n${lines.join('\n')}\n`;
const WRITTEN = '# Written by "dragoman provision" from dragoman.json: change it there.\n';

function managerProfile(wifi: WifiNetwork | null, address: Address): string {
  const [id, uuid, type] =
    wifi === null ? ['dragoman-wired', WIRED_UUID, 'ethernet'] : ['dragoman-wifi', WIFI_UUID, 'wifi'];
  const head = [`id=${id}`, `uuid=${uuid}`, `type=${type}`];
  // Retry forever: at a kiosk there is no person to ask for another password.
  const tries = ['autoconnect=true', `autoconnect-priority=${PRIORITY}`, 'autoconnect-retries=0'];
  const radio =
    wifi === null
      ? []
      : [
          section(
            'wifi',
            'mode=infrastructure',
            managerSsid(wifi.part.ssid),
            ...(wifi.part.hidden ? ['hidden=true'] : []),
          ),
          ...(wifi.key === null ? [] : [section('wifi-security', 'key-mgmt=wpa-psk', `psk=${wifi.key}`)]),
        ];
  const parts = [section('connection', ...head, ...tries), ...radio, ...managerAddress(address)];
  return WRITTEN + parts.join('\n');
}

function managerAddress(address: Address): string[] {
  if (address === 'dhcp') return [section('ipv4', 'method=auto'), section('ipv6', 'method=auto')];
  const gateway = address.gateway === undefined ? '' : `,${address.gateway}`;
  const servers = address.dns.length === 0 ? [] : [`dns=${address.dns.map((one) => `${one};`).join('')}`];
  return [
    section('ipv4', 'method=manual', `address1=${address.address}${gateway}`, ...servers),
    section('ipv6', 'method=auto'),
  ];
}

function supplicantFile({ part, key }: WifiNetwork): string {
  const lines = [
    supplicantSsid(part.ssid),
    ...(part.hidden ? ['scan_ssid=1'] : []),
    ...(key === null ? ['key_mgmt=NONE'] : ['key_mgmt=WPA-PSK', `psk=${key}`]),
  ];
  return [
    WRITTEN.trimEnd(),
    'ctrl_interface=/run/wpa_supplicant',
    ...(part.country === undefined ? [] : [`country=${part.country}`]),
    'network={',
    ...lines.map((line) => `\t${line}`),
    '}',
    '',
  ].join('\n');
}

function networkdFile(match: readonly string[], address: Address): string {
  const parts = [
    section('Match', ...match),
    // Booting does not wait for the network; the agent does.
    section('Link', 'RequiredForOnline=no'),
    // For a broker name in ".local"; works if mDNS is on in systemd-resolved, as in the image.
    section('Network', ...networkdAddress(address), 'MulticastDNS=resolve'),
  ];
  return WRITTEN + parts.join('\n');
}

function networkdAddress(address: 'dhcp' | StaticAddress): string[] {
  if (address === 'dhcp') return ['DHCP=yes'];
  return [
    `Address=${address.address}`,
    ...(address.gateway === undefined ? [] : [`Gateway=${address.gateway}`]),
    ...address.dns.map((server) => `DNS=${server}`),
  ];
}

/** Read when the kernel's Wi-Fi module loads. At the first boot this file comes too late, so `iw` sets the country then. */
function regulatoryFile(country: string): FileWrite {
  return publicFile(PLACES.regulatory, `${WRITTEN}options cfg80211 ieee80211_regdom=${country}\n`);
}
