import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A third-party package whose code is in a bundle. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly licenseText: string;
  /** Checksum of its archive, "sha512-..." in base64; null if the lock file has none. */
  readonly integrity: string | null;
}

interface Meta {
  readonly inputs: Readonly<Record<string, unknown>>;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Packages in these bundles, by the bundler's metadata, and in the files beside them. */
export function componentsOf(
  root: string,
  bundles: string,
  names: readonly string[],
  besides: readonly string[],
): Component[] {
  const inputs = names.flatMap((name) => {
    const meta = JSON.parse(readFileSync(join(bundles, `${name}.meta.json`), 'utf8')) as Meta;
    return Object.keys(meta.inputs);
  });
  const folders = new Set<string>();
  for (const input of [...inputs, ...besides.map((one) => `node_modules/${one}/`)]) {
    const [, folder] = /(node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  const read = (folder: string): Component => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    ) as Manifest;
    if (license === undefined) throw new Error(`${name} does not declare its licence`);
    const file = readdirSync(join(root, folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const licenseText = file === undefined ? `Licence: ${license}` : readText(join(root, folder, file));
    return { name, version, license, licenseText, integrity: lock.packages[folder]?.integrity ?? null };
  };
  const sorted = [...folders].filter((folder) => existsSync(join(root, folder, 'package.json'))).sort();
  return sorted.map(read);
}

const readText = (path: string): string => readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trim();

/**
 * `/usr/share/doc/PACKAGE/copyright`: the licences of all code in a package.
 * @param note about content of the package other than code; may be empty
 */
export function copyrightPage(own: string, components: readonly Component[], note: string): string {
  const line = `\n${'-'.repeat(78)}\n\n`;
  const others = components.map(
    ({ name, version, license, licenseText }) => `${name} ${version} (${license})\n\n${licenseText}\n`,
  );
  const intro = `Dragoman, the agent inside an interpreting kiosk, with its backend and its emulator of the service.\n\n`;
  const between =
    others.length === 0 ? '' : `${line}This package contains code of others:\n${line}${others.join(line)}`;
  return `${intro}${own.trim()}\n${note === '' ? '' : `${line}${note}`}${between}`;
}

interface Subject {
  readonly name: string;
  readonly version: string;
  /** Seconds since 1970. */
  readonly changedAt: number;
}

/** A bill of materials (CycloneDX 1.5), which depends only on the content of the package. */
export function billOfMaterials(
  { name, version, changedAt }: Subject,
  components: readonly Component[],
): string {
  const parts = components.map(({ name, version, license, integrity }) => ({
    type: 'library',
    'bom-ref': purlOf(name, version),
    name,
    version,
    licenses: [/^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
    purl: purlOf(name, version),
    ...(integrity === null ? {} : { hashes: [hashOf(integrity)] }),
  }));
  const subject = {
    type: 'application',
    'bom-ref': name,
    name,
    version,
    licenses: [{ license: { id: 'MIT' } }],
  };
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([subject, parts]))}`,
    version: 1,
    metadata: { timestamp: new Date(changedAt * 1000).toISOString(), component: subject },
    components: parts,
    dependencies: [{ ref: name, dependsOn: parts.map((part) => part['bom-ref']) }],
  };
  return `${JSON.stringify(bill, null, 1)}\n`;
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

function hashOf(integrity: string): { alg: string; content: string } {
  const [, alg = '', hash = ''] = /^sha(\d+)-(.*)$/.exec(integrity) ?? [];
  return { alg: `SHA-${alg}`, content: Buffer.from(hash, 'base64').toString('hex') };
}

/** A UUID of version 5 that depends only on the text. */
function uuidOf(text: string): string {
  const hex = createHash('sha1').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
