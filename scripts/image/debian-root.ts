import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from './child-programs.ts';
import type { Wanted } from './kept.ts';

/** Debian packages of a kiosk, without recommended ones. */
const PACKAGES = [
  'systemd-sysv',
  'systemd-resolved',
  'systemd-timesyncd',
  'libnss-resolve',
  'dbus',
  'udev',
  'kmod',
  'linux-image-arm64',
  'initramfs-tools',
  'zstd',
  'busybox',
  'e2fsprogs',
  'fdisk',
  'dosfstools',
  'raspi-firmware',
  'firmware-brcm80211',
  'wpasupplicant',
  'wireless-regdb',
  'iw',
  'rfkill',
  'iproute2',
  'iputils-ping',
  'openssh-server',
  'sudo',
  'ca-certificates',
  'tzdata',
  'alsa-utils',
  'nodejs',
];
/** What dragoman-screen depends on and recommends. */
const SCREEN_PACKAGES = [
  'cage',
  'chromium',
  'libpam-systemd',
  'xwayland',
  'fonts-noto-core',
  'fonts-noto-cjk',
];
/** The page has no serifs, and they would take 50 MB. */
const FONTS_LEFT_OUT = ['opentype/noto/NotoSerifCJK-*', 'truetype/noto/NotoSerif*'];
/** Drivers of hardware that no Raspberry Pi has; they would take a third of the image. */
const DRIVERS_LEFT_OUT = [
  ...[
    'amd',
    'nouveau',
    'i915',
    'xe',
    'radeon',
    'msm',
    'etnaviv',
    'rockchip',
    'tegra',
    'mediatek',
    'hisilicon',
  ].map((name) => `gpu/drm/${name}`),
  ...['ast', 'imx', 'meson', 'sun4i', 'qxl', 'vmwgfx', 'panfrost', 'lima', 'nova'].map(
    (name) => `gpu/drm/${name}`,
  ),
  ...[
    'common',
    'dvb-core',
    'dvb-frontends',
    'firewire',
    'i2c',
    'mmc',
    'pci',
    'platform',
    'radio',
    'spi',
    'tuners',
    'usb',
  ].map((name) => `media/${name}`),
  ...[
    'ath',
    'intel',
    'marvell',
    'mediatek',
    'microchip',
    'quantenna',
    'ralink',
    'realtek',
    'rsi',
    'silabs',
    'st',
    'ti',
    'zydas',
  ].map((name) => `net/wireless/${name}`),
  'infiniband',
  'net/can',
  'net/ethernet',
  'message',
  'scsi/lpfc',
  'scsi/qla2xxx',
  'scsi/mpt3sas',
  'scsi/bfa',
];
/** Driver of the wired network of a Raspberry Pi 4. */
const DRIVERS_KEPT = ['net/ethernet/broadcom'];
const PAPERS_LEFT_OUT = ['doc', 'man', 'locale', 'info'];
/** Days for which a Debian root is kept; it is then made again with Debian's fixes. */
const KEPT_FOR_DAYS = 7;
const DAY_MS = 86_400_000;

/** A Debian root, in `debian.tar`, and what it is made from. */
export interface RootWanted extends Wanted {
  readonly suite: string;
  /** Words for mmdebstrap. */
  readonly words: readonly string[];
}

/** @param sources the folder of the repository */
export function debianRoot(suite: string, hasScreen: boolean, sources: string): RootWanted {
  const hooks = ['root-before.sh', 'root-after.sh'].map((name) => join(sources, 'scripts/image', name));
  return {
    kind: `image-${suite}${hasScreen ? '-screen' : ''}-arm64`,
    madeFrom: [suite, ...rootWords(hasScreen, []), ...hooks.map((hook) => readFileSync(hook, 'utf8'))],
    longestMs: KEPT_FOR_DAYS * DAY_MS,
    suite,
    words: rootWords(hasScreen, hooks),
  };
}

/**
 * Takes minutes, because it emulates another processor.
 * @param epoch seconds since 1970
 * @param draft folder for temporary files
 */
export async function makeDebian(
  run: Run,
  { suite, words }: RootWanted,
  epoch: number,
  draft: string,
  folder: string,
): Promise<void> {
  await run.program('mmdebstrap', [...words, suite, join(folder, 'debian.tar'), ...sourceLines(suite)], {
    // INITRD: the initrd is made once, by the last hook.
    env: { TMPDIR: draft, SOURCE_DATE_EPOCH: String(epoch), INITRD: 'No' },
    tells: (line) => /^I: (?!running --)(.*)/.exec(line)?.[1] ?? null,
  });
}

/** The words for mmdebstrap. */
export function rootWords(hasScreen: boolean, hooks: readonly string[]): string[] {
  const drivers = (names: readonly string[], option: string) =>
    names.map((name) => `--dpkgopt=${option}=/usr/lib/modules/*/kernel/drivers/${name}/*`);
  const [before = '', after = ''] = hooks;
  return [
    '--variant=minbase',
    '--architectures=arm64',
    '--format=tar',
    '--components=main,non-free-firmware',
    `--include=${[...PACKAGES, ...(hasScreen ? SCREEN_PACKAGES : [])].join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    '--dpkgopt=force-unsafe-io',
    '--dpkgopt=force-confold',
    ...drivers(DRIVERS_LEFT_OUT, 'path-exclude'),
    ...drivers(DRIVERS_KEPT, 'path-include'),
    ...PAPERS_LEFT_OUT.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    '--dpkgopt=path-include=/usr/share/doc/*/copyright',
    ...(hasScreen ? FONTS_LEFT_OUT.map((name) => `--dpkgopt=path-exclude=/usr/share/fonts/${name}`) : []),
    ...(before === '' ? [] : [`--essential-hook=${before}`, `--customize-hook=${after}`]),
  ];
}

/** apt sources of Debian, its updates and security fixes: those of this machine's apt, or DRAGOMAN_DEBIAN_MIRROR. */
export function sourceLines(suite: string, folder = '/etc/apt'): string[] {
  const parts = join(folder, 'sources.list.d');
  const files = [
    join(folder, 'sources.list'),
    ...(existsSync(parts) ? readdirSync(parts).map((name) => join(parts, name)) : []),
  ];
  const text = files
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const ending = (name: string) =>
    new RegExp(`^(?:URIs:|deb\\s)[^#\\n]*?(https?://\\S+/${name})/?(?:\\s|$)`, 'm').exec(text)?.[1];
  const main = process.env['DRAGOMAN_DEBIAN_MIRROR'] ?? ending('debian');
  if (main === undefined) return [];
  const security = ending('debian-security') ?? main.replace(/debian$/, 'debian-security');
  const components = 'main non-free-firmware';
  return [
    `deb ${main} ${suite} ${components}`,
    `deb ${main} ${suite}-updates ${components}`,
    `deb ${security} ${suite}-security ${components}`,
  ];
}
