import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { MachineParts } from '../../../../ports/machine.ts';
import type { Config } from '../../../../protocol/config.ts';
import type { Outcome } from '../../report/finding.ts';
import { parseProperties, UNIT, type UnitProperties } from '../service/unit-properties.ts';
import { judgeSandbox, type NeededFile, SANDBOX_PROPERTIES, startsWith } from './sandbox-rules.ts';

/**
 * Looks at the configuration's files as the unit would: through the unit's sandbox, and as its user. Empty if the unit
 * starts another configuration.
 */
export async function lookThroughSandbox(
  { run }: MachineParts,
  file: string,
  config: Config,
): Promise<Outcome[]> {
  const answer = await run('systemctl', ['show', UNIT, `--property=${SANDBOX_PROPERTIES.join(',')}`]);
  const unit = answer.ok ? parseProperties(answer.text) : {};
  if (unit['LoadState'] !== 'loaded' || !startsWith(unit, pathsOf(file))) return [];
  const files: NeededFile[] = [];
  for (const { key, path, use } of neededFiles(file, config)) {
    const paths = pathsOf(path);
    // A missing input file is reported elsewhere; a recording's file is created later.
    if (use === 'read' && !existsSync(path)) continue;
    files.push({ key, paths, use, isAllowed: use === 'read' ? await mayRead(run, unit, path) : null });
  }
  return judgeSandbox(unit, files);
}

/** Asks the kernel as the unit's user, which only root may do; null: unknown. */
async function mayRead(
  run: MachineParts['run'],
  unit: UnitProperties,
  path: string,
): Promise<boolean | null> {
  const user = unit['User'] ?? '';
  if (user === '' || user === 'root') return null;
  const identity = ['--reuid', user, '--regid', unit['Group'] || user, '--init-groups'];
  const as = (words: readonly string[]) => run('setpriv', [...identity, ...words]);
  const isAble = await as(['true']);
  return isAble.ok ? (await as(['test', '-r', path])).ok : null;
}

/** Names without a folder are credentials, which systemd passes to the unit. */
function neededFiles(file: string, { mqtt, owner, service, lanes, phrases }: Config) {
  const read: readonly (readonly [key: string, path: string | null])[] = [
    ['the configuration', resolve(file)],
    ['mqtt.passwordFile', mqtt.passwordFile],
    ['mqtt.keyFile', mqtt.keyFile],
    ['mqtt.certFile', mqtt.certFile],
    ['mqtt.caFile', mqtt.caFile],
    ['service.caFile', service.caFile],
    ['phrases.folder', phrases?.folder ?? null],
    ...owner.publicKeyFiles.map((path) => ['owner.publicKeyFiles', path] as const),
    ...lanes.flatMap(({ capture }, at) =>
      capture.driver === 'file' ? [[`lanes[${at}].capture.path`, capture.path] as const] : [],
    ),
  ];
  const written = lanes.flatMap(({ playback }, at) =>
    playback.driver === 'file' ? [[`lanes[${at}].playback.path`, playback.path] as const] : [],
  );
  const of =
    (use: NeededFile['use']) =>
    ([key, path]: readonly [string, string | null]) =>
      path !== null && isAbsolute(path) ? [{ key, path, use }] : [];
  return [...read.flatMap(of('read')), ...written.flatMap(of('write'))];
}

/** A path and its link target. For a file that does not exist yet, the link target of its folder. */
function pathsOf(path: string): string[] {
  const whole = resolve(path);
  const real = realOf(whole) ?? realOf(dirname(whole));
  return real === null || real === whole || real === dirname(whole) ? [whole] : [whole, real];
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
