import { execFile } from 'node:child_process';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onceARun } from '../once-a-run.ts';
import { createSide, type Knob, type Side } from './card-side.ts';

/**
 * Virtual sound cards for the real arecord and aplay, on machines without cards. `vcard.h` documents them.
 *
 *   const { rack, missing } = await openRack();      // missing: why there are no virtual cards, for the test's name
 *   const card = await rack.insert({ id: 'Kiosk', capture: { sound } });
 *   spawn('arecord', ['-D', card.device, ...], { env: rack.env });
 */

const run = promisify(execFile);

const SOURCES = ['vcard.c', 'world.c', 'controls.c'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);
const BUILD_TIMEOUT_MS = 60_000;
const PLUGIN = 'vcard.so';
/** File that marks that the plugin cannot be built. */
const NO_HEADERS = 'no-headers';
const CONFIG = 'alsa.conf';

/** One direction of a card. */
export interface SideOptions {
  /** Error of its sample clock, parts per million. */
  readonly ppm?: number;
  /** Speed against real time. Only the pace of the frames changes. */
  readonly speed?: number;
  /** Frames of its only period. Default: any period. */
  readonly period?: number;
  /** Frames of its longest buffer. */
  readonly bufferMax?: number;
  /** Its volume control. Default: none. */
  readonly control?: Partial<Knob> & {
    /** Name in the mixer: "Speaker", "Mic". */
    readonly name: string;
  };
}

export const LOUDEST = 64;

export interface CardOptions {
  /** Id of the card as in `plughw:CARD=id`: letters, digits, `_`. */
  readonly id: string;
  /** Its only rate. Default: 24000. */
  readonly rateHz?: number;
  /** Its only number of channels. Default: 1. */
  readonly channels?: 1 | 2;
  readonly capture?: SideOptions & {
    /** Sound at the microphone from its first start, at the card's rate, equal in all channels; then silence. */
    readonly sound?: Int16Array;
    readonly loop?: boolean;
  };
  readonly playback?: SideOptions;
  /** Name of the control of its jack, "Headphone Jack". Default: none. */
  readonly jack?: string;
  /** The microphone captures the card's own loudspeaker. Use a delay of at least 20 ms, because the sound is recorded later than that. */
  readonly acoustic?: {
    readonly delayMs: number;
    readonly gainDb: number;
    /** The loudspeaker is that of another card. */
    readonly of?: string;
  };
}

export interface Card {
  /** Device name for `-D`, with conversions; `hw` and `plughw` with `CARD=id` work, too. */
  readonly device: string;
  readonly capture: Side;
  readonly playback: Side;
  /** Moves the plug at its jack; the card must have one. */
  plug(isIn: boolean): void;
}

export interface Rack {
  readonly folder: string;
  /** Environment for children. `use()` sets it in this process, for children that inherit it. */
  readonly env: NodeJS.ProcessEnv;
  use(): void;
  insert(options: CardOptions): Promise<Card>;
  /** Frees everything. No program may use a card afterwards. */
  close(): Promise<void>;
}

export type RackOrNot =
  | { readonly rack: Rack; readonly missing: null }
  | { readonly rack: null; readonly missing: string };

/**
 * Opens the plugin and its cards in a new folder.
 * @param shownAs path of that folder for the programs, if different
 */
export async function openRack(shownAs?: string): Promise<RackOrNot> {
  for (const program of ['arecord', 'aplay']) {
    if (!(await answers(program, ['--version'])))
      return { rack: null, missing: `no ${program} (alsa-utils)` };
  }
  if (!(await answers('gcc', ['--version']))) return { rack: null, missing: 'no gcc' };
  const built = await onceARun('virtual-card', buildPlugin);
  if (existsSync(join(built, NO_HEADERS))) return { rack: null, missing: 'no ALSA headers (libasound2-dev)' };
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-card-'));
  const plugin = join(folder, PLUGIN);
  await copyFile(join(built, PLUGIN), plugin);
  return { rack: createRack(folder, shownAs ?? folder), missing: null };
}

async function buildPlugin(folder: string): Promise<void> {
  const flags = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-DPIC', '-fPIC', '-shared'];
  const words = [...flags, '-o', join(folder, PLUGIN), ...SOURCES, '-lasound', '-lm', '-lpthread'];
  await run('gcc', words, { timeout: BUILD_TIMEOUT_MS }).catch(async (error: unknown) => {
    const text = error instanceof Error ? error.message : '';
    if (!/asoundlib\.h: No such file/.test(text)) throw error;
    await writeFile(join(folder, NO_HEADERS), '');
  });
}

async function answers(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await run(program, args);
    return true;
  } catch {
    return false;
  }
}

function createRack(folder: string, shownAs: string): Rack {
  const config = join(folder, CONFIG);
  const parts: string[] = [];
  let isUsed = false;
  const shownConfig = join(shownAs, CONFIG);
  return {
    folder,
    env: { ...process.env, ALSA_CONFIG_PATH: shownConfig, LC_ALL: 'C' },
    use() {
      process.env['ALSA_CONFIG_PATH'] = shownConfig;
      isUsed = true;
    },
    async insert(options) {
      const { id, rateHz = 24_000, channels = 1, capture = {}, playback = {}, acoustic, jack } = options;
      if (!/^\w+$/.test(id)) throw new Error(`a card cannot be called ${id}`);
      const [mic, speaker] = [join(folder, `${id}.capture`), join(folder, `${id}.playback`)];
      const shown = { mic: join(shownAs, `${id}.capture`), speaker: join(shownAs, `${id}.playback`) };
      const { sound = new Int16Array(0), loop = false } = capture;
      await writeFile(`${mic}.pcm`, interleave(sound, channels));
      const shape = { rate: rateHz, channels };
      const heard = acoustic?.of === undefined ? shown.speaker : join(shownAs, `${acoustic.of}.playback`);
      const echo = acoustic && { echo: heard, echo_ms: acoustic.delayMs, echo_db: acoustic.gainDb };
      parts.push(`pcm.vcard_${id} {
  type asym
  capture.pcm ${blockOf({ path: shown.mic, ...shape, ...sideOf(capture), loop: loop ? 'yes' : 'no', ...echo })}
  playback.pcm ${blockOf({ path: shown.speaker, ...shape, ...sideOf(playback) })}
}`);
      const names = { capture: capture.control?.name, playback: playback.control?.name };
      const mixer = { playback_path: shown.speaker, capture_path: shown.mic, channels, jack, ...names };
      parts.push(`ctl.vcard_${id} ${blockOf(mixer)}`);
      const sides = { capture: createSide(mic, channels), playback: createSide(speaker, channels) };
      for (const direction of ['capture', 'playback'] as const) {
        const { control } = options[direction] ?? {};
        if (control !== undefined) sides[direction].turn({ volume: LOUDEST, on: true, ...control });
      }
      replace(config, `${header(join(shownAs, PLUGIN))}\n${parts.join('\n')}\n`);
      return { device: `plughw:CARD=${id}`, ...sides, plug: sides.playback.plug };
    },
    async close() {
      if (isUsed) delete process.env['ALSA_CONFIG_PATH'];
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** ALSA configuration that gives virtual cards the names of kernel cards. */
function header(plugin: string): string {
  const named = (type: string) => `{
  @args [ CARD DEV SUBDEV ]
  @args.CARD { type string default "none" }
  @args.DEV { type integer default 0 }
  @args.SUBDEV { type integer default -1 }
  type ${type}
  slave.pcm { @func concat strings [ "vcard_" $CARD ] }
}`;
  return `</usr/share/alsa/alsa.conf>
pcm_type.vcard { lib "${plugin}" }
ctl_type.vcard { lib "${plugin}" }
pcm.!hw ${named('empty')}
pcm.!plughw ${named('plug')}
ctl.!hw {
  @args [ CARD ]
  @args.CARD { type string default "none" }
  @func refer
  name { @func concat strings [ "ctl.vcard_" $CARD ] }
}`;
}

function sideOf({ ppm = 0, speed = 1, period, bufferMax }: SideOptions): Record<string, number | undefined> {
  return { ppm, speed, period, buffer_max: bufferMax };
}

function blockOf(options: Readonly<Record<string, string | number | undefined>>): string {
  const lines = Object.entries(options).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} ${typeof value === 'string' ? `"${value}"` : value}`],
  );
  return `{ type vcard ${lines.join(' ')} }`;
}

/** Replaces a file atomically; the last of several calls wins. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.draft`, text);
  renameSync(`${path}.draft`, path);
}

function interleave(sound: Int16Array, channels: number): Uint8Array {
  if (channels === 1) return new Uint8Array(sound.slice().buffer);
  const all = new Int16Array(sound.length * channels);
  for (let at = 0; at < all.length; at++) all[at] = sound[Math.floor(at / channels)] ?? 0;
  return new Uint8Array(all.buffer);
}
