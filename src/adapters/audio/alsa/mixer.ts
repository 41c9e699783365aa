import { execFile } from 'node:child_process';
import type { Mixer } from '../../../ports/audio.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import { parseDeviceName } from '../cards/device-name.ts';

/** Controls for the loudness of the whole card, the likeliest first. */
const CONTROLS = [
  'Master',
  'PCM',
  'Speaker',
  'Headphone',
  'Digital',
  'Playback',
  'Line Out',
  'Lineout',
  'Front',
];
const PROBE_LIMIT_MS = 2000;

/**
 * The control device that belongs to a PCM device: "hw:CARD=Speaker" for "plughw:CARD=Speaker,DEV=0". A name without a card
 * ("default", "pulse", one from /etc/asound.conf) may have a control device of the same name. Null for all others.
 */
export function controlDevice(device: string): string | null {
  const name = device.trim().replace(/^plug:(['"]?)(.*)\1$/, '$2');
  const card = parseDeviceName(name)?.card;
  if (card !== undefined) return typeof card === 'number' ? `hw:${card}` : `hw:CARD=${card}`;
  return /^[\w-]+$/.test(name) ? name : null;
}

/** The volume control of a PCM device's card. A card that comes back may have another volume. */
export interface CardMixer {
  /** Null while no control for the playback volume is known. */
  readonly mixer: Mixer | null;
  /** Looks the control up again. When amixer does not answer, the last result stays valid. */
  look(): Promise<void>;
  close(): void;
}

/** Waits before each retry of setting the volume (milliseconds): a busy machine must not lose the request. */
const RETRY_AFTER_MS = [1000, 5000, 30_000];

export function createCardMixer(device: string, { clock, log }: { clock: Clock; log: Log }): CardMixer {
  const control = controlDevice(device);
  let chosen: VolumeControl | null = null;
  let wanted: number | null = null;
  let isBusy = false;
  let failures = 0;
  let cancelRetry = (): void => {};
  const retry = (percent: number): void => {
    const waitMs = RETRY_AFTER_MS[failures++];
    if (waitMs === undefined) return;
    cancelRetry = clock.at(clock.now() + waitMs, () => {
      wanted ??= percent;
      set();
    });
  };
  const set = (): void => {
    if (isBusy || wanted === null || control === null || chosen === null) return;
    const { name, canMute } = chosen;
    const percent = wanted;
    wanted = null;
    isBusy = true;
    // `-M`: the percentage follows perceived loudness.
    const words = ['-q', '-M', '-D', control, 'sset', name, 'playback', `${percent}%`];
    void amixer([...words, ...(canMute ? ['unmute'] : [])]).then((said) => {
      isBusy = false;
      if (said === null) log.warn({ device: control, control: name, percent }, 'the volume could not be set');
      if (said === null && wanted === null) retry(percent);
      set();
    });
  };
  const mixer: Mixer = {
    setVolume(percent) {
      wanted = Math.round(Math.min(100, Math.max(0, percent)));
      failures = 0;
      cancelRetry();
      set();
    },
  };
  return {
    get mixer() {
      return chosen === null ? null : mixer;
    },
    async look() {
      const contents = control === null ? null : await amixer(['-D', control, 'scontents']);
      if (contents !== null) chosen = chooseControl(contents);
    },
    close() {
      failures = RETRY_AFTER_MS.length;
      cancelRetry();
    },
  };
}

/** A card's playback control. */
export interface VolumeControl {
  readonly name: string;
  readonly canMute: boolean;
}

/** Chooses the loudness control from the output of `amixer scontents`. */
export function chooseControl(contents: string): VolumeControl | null {
  const playing = new Map<string, VolumeControl>();
  for (const part of contents.split(/^(?=Simple mixer control )/m)) {
    const name = /^Simple mixer control '([^']+)',0/.exec(part)?.[1];
    const abilities = /^\s*Capabilities:(.*)/m.exec(part)?.[1]?.trim().split(/\s+/) ?? [];
    if (name === undefined || !abilities.some((ability) => ability === 'pvolume' || ability === 'volume'))
      continue;
    playing.set(name, { name, canMute: abilities.some((ability) => /^p?switch$/.test(ability)) });
  }
  return CONTROLS.flatMap((name) => playing.get(name) ?? [])[0] ?? null;
}

/** The output of amixer; null when it failed. */
export function amixer(words: readonly string[]): Promise<string | null> {
  const options = {
    timeout: PROBE_LIMIT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 256 * 1024,
    env: { ...process.env, LC_ALL: 'C' },
  } as const;
  return new Promise((resolve) => {
    execFile('amixer', words, options, (error, stdout) => resolve(error === null ? stdout : null));
  });
}
