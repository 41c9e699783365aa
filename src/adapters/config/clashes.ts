import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../protocol/config.ts';
import { parseDeviceName } from '../audio/cards/device-name.ts';
import { formatPath, type Problem, type SourceMap } from './layer.ts';

/** Plugins of ALSA that let several programs use one device. */
const SHARED = /^(dmix|dsnoop|dshare|plug:['"]?(dmix|dsnoop)|pulse|pipewire|jack|null)\b/;

/** A value and its path. */
interface Named {
  readonly path: readonly (string | number)[];
  readonly value: string;
}

/** Finds values that two keys must not share: a file that would be overwritten, or a sound device that only one can open. */
export function findClashes(config: Config, sources: SourceMap, configFiles: readonly string[]): Problem[] {
  return [...fileClashes(config, sources, configFiles), ...deviceClashes(config, sources)];
}

/** A recording overwrites its file, so no other key may name that file. */
function fileClashes(config: Config, sources: SourceMap, configFiles: readonly string[]): Problem[] {
  const { lanes, mqtt, service } = config;
  const written = lanes.flatMap(({ playback }, lane) =>
    playback.driver === 'file' ? [named(['lanes', lane, 'playback', 'path'], playback.path)] : [],
  );
  const read = [
    ...lanes.flatMap(({ capture }, lane) =>
      capture.driver === 'file' ? [named(['lanes', lane, 'capture', 'path'], capture.path)] : [],
    ),
    ...(['passwordFile', 'caFile', 'certFile', 'keyFile'] as const).map((key) =>
      named(['mqtt', key], mqtt[key]),
    ),
    named(['service', 'caFile'], service.caFile),
  ].filter(({ value }) => value !== '');
  return written.flatMap((playback, index) => {
    const other = [...read, ...written.slice(0, index)].find(({ value }) =>
      isSameFile(value, playback.value),
    );
    const isConfig = configFiles.some((file) => isSameFile(file, playback.value));
    if (other === undefined && !isConfig) return [];
    const what = other === undefined ? 'the configuration itself' : `the file of ${formatPath(other.path)}`;
    return [problemAt(playback, sources, `is ${what}, which would be overwritten: name another file`)];
  });
}

function deviceClashes({ lanes }: Config, sources: SourceMap): Problem[] {
  return (['capture', 'playback'] as const).flatMap((end) => {
    const taken = new Map<string, Named>();
    return lanes.flatMap((lane, index) => {
      const { driver } = lane[end];
      if (driver !== 'alsa' && driver !== 'addon') return [];
      const device = named(['lanes', index, end, 'device'], lane[end].device);
      if (SHARED.test(device.value)) return [];
      const key = deviceKey(device.value);
      const other = taken.get(key);
      taken.set(key, other ?? device);
      if (other === undefined) return [];
      const message = `is the device of ${formatPath(other.path)} too: two lanes cannot share a sound device`;
      return [problemAt(device, sources, message)];
    });
  });
}

function named(path: readonly (string | number)[], value: string | null): Named {
  return { path, value: value ?? '' };
}

function problemAt({ path, value }: Named, sources: SourceMap, message: string): Problem {
  return {
    source: sources.nearest(path),
    path: formatPath(path),
    message: `${JSON.stringify(value)} ${message}`,
  };
}

/** A key that is the same for `hw:1`, `plughw:1,0` and `hw:CARD=1`, because they open the same hardware. */
function deviceKey(name: string): string {
  const parsed = parseDeviceName(name);
  if (parsed === null || !/^(plug)?hw$/.test(parsed.plugin)) return name.trim();
  return JSON.stringify([parsed.card, parsed.device]);
}

/** Whether two names lead to the same file, also through links. A file that does not exist yet is compared by its folder. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [identify(one), identify(other)];
  return first.path === second.path || (first.inode !== null && first.inode === second.inode);
}

function identify(file: string): { path: string; inode: string | null } {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return { path: realpathSync(file), inode: `${dev}:${ino}` };
  } catch {
    return { path: realFolder(resolve(file)), inode: null };
  }
}

function realFolder(file: string): string {
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return file;
  }
}
