import { execFile } from 'node:child_process';
import type { Mixer } from '../../../ports/audio.ts';
import type { Log } from '../../../ports/log.ts';

/** Controls that mean the loudness of the whole card, the likeliest first. */
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

/** The card's control device behind a PCM device: "plughw:CARD=Speaker,DEV=0" has "hw:CARD=Speaker". */
export function controlDevice(device: string): string | null {
  const card = /^(?:plughw|hw|sysdefault|front|default|dmix|plug:dmix):(?:CARD=)?([^,]+)/.exec(device)?.[1];
  if (card !== undefined) return /^\d+$/.test(card) ? `hw:${card}` : `hw:CARD=${card}`;
  return device === 'default' || device === 'sysdefault' ? 'default' : null;
}

/** The card's own volume control; null where it has none that plays. */
export async function openMixer(device: string, log: Log): Promise<Mixer | null> {
  const control = controlDevice(device);
  if (control === null) return null;
  const simple = await amixer(['-D', control, 'scontents']);
  const chosen = simple === null ? null : chooseControl(simple);
  if (chosen === null) return null;
  const { name, canMute } = chosen;
  let wanted: number | null = null;
  let isBusy = false;
  const set = (): void => {
    if (isBusy || wanted === null) return;
    const percent = wanted;
    wanted = null;
    isBusy = true;
    // `-M`: the control's steps as ears hear them.
    const words = [
      '-q',
      '-M',
      '-D',
      control,
      'sset',
      name,
      'playback',
      `${percent}%`,
      ...(canMute ? ['unmute'] : []),
    ];
    void amixer(words).then((said) => {
      isBusy = false;
      if (said === null) log.warn({ device: control, control: name, percent }, 'the volume could not be set');
      set();
    });
  };
  return {
    setVolume(percent) {
      wanted = Math.round(Math.min(100, Math.max(0, percent)));
      set();
    },
  };
}

/** A card's playback control. */
export interface VolumeControl {
  readonly name: string;
  readonly canMute: boolean;
}

/** The control that is the loudness, from what `amixer scontents` tells. */
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

/** What amixer said; null when it failed. */
function amixer(words: readonly string[]): Promise<string | null> {
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
