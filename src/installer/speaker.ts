import { spawn } from 'node:child_process';
import { createCardMixer } from '../adapters/audio/alsa/mixer.ts';
import {
  addressOf,
  type Card,
  describeHolders,
  isBusy,
  MACHINE_FOLDERS,
  type MachineFolders,
} from '../adapters/audio/cards/card.ts';
import { parseDeviceName } from '../adapters/audio/cards/device-name.ts';
import { readCards } from '../adapters/audio/cards/kernel-cards.ts';
import { reasonIn } from '../adapters/audio/child/own-words.ts';
import { dyingWithParent } from '../adapters/audio/child/parent-death.ts';
import { sleep } from '../adapters/sleep.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { DecodedSound } from '../sound/adpcm.ts';
import { durationMs } from '../sound/pcm.ts';
import type { Said } from './core/start-text.ts';

export interface SpeakerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Configured devices, including names that are not kernel cards. */
  readonly configured: readonly string[];
  readonly folders?: MachineFolders;
  /** Asks the running agent to play the sound on its own loudspeakers; false when the agent does not. */
  handOver(sound: DecodedSound): Promise<boolean>;
}

/** All loudspeakers of this machine. */
export interface Speaker {
  /**
   * Plays the sound wherever possible, at the same time, and returns where. Never rejects.
   * @param agentSpeaks whether to rely on the agent's loudspeakers (default: yes)
   */
  say(sound: DecodedSound, agentSpeaks?: boolean): Promise<readonly Said[]>;
  /** Stops at once. */
  close(): void;
}

/** Maximum number of devices to use; no kiosk has more. */
const MOST_DEVICES = 32;
/** Extra time after the sound's length (milliseconds); a device that needs longer counts as hung. */
const LATE_MS = 5000;
/** Volume for a card that was never used, which may be muted or at its loudest. */
const VOLUME_PERCENT = 75;
const MIXER_LIMIT_MS = 3000;
const MOST_WORDS = 4096;
/** Generous extra time for the agent to begin (milliseconds). */
const AGENT_BEGINS_MS = 500;

const AGENT = "the agent's loudspeakers";

export function createSpeaker(options: SpeakerOptions): Speaker {
  const { clock } = options;
  const playing = new Set<() => void>();
  let isClosed = false;
  return {
    async say(sound, agentSpeaks = true) {
      const devices = listDevices(options);
      const byAgent = agentSpeaks && !isClosed && (await options.handOver(sound));
      // The agent plays on its own devices, even when another program could share them.
      const others = byAgent ? devices.filter(({ isAgents }) => !isAgents) : devices;
      const mostly = durationMs(sound.pcm.byteLength, sound.rateHz) + AGENT_BEGINS_MS;
      const [said] = await Promise.all([
        Promise.all(
          others.map(async ({ device, isCard, holders }): Promise<Said> => {
            if (holders !== null) return { device, trouble: `busy, held by ${holders}` };
            if (isCard && !isClosed) await turnUp(device, options);
            if (isClosed) return { device, trouble: 'stopped on request' };
            return { device, trouble: await play(device, sound, options, playing) };
          }),
        ),
        byAgent ? sleep(clock, mostly) : null,
      ]);
      return byAgent ? [{ device: AGENT, trouble: null }, ...said] : said;
    },
    close() {
      isClosed = true;
      for (const end of playing) end();
    },
  };
}

interface Found {
  readonly device: string;
  readonly isCard: boolean;
  /** The configuration names the device, or its card. */
  readonly isAgents: boolean;
  /** The programs that use it; null: it is free. */
  readonly holders: string | null;
}

/** The outputs of all cards, and the other configured devices. */
function listDevices({ folders = MACHINE_FOLDERS, configured }: SpeakerOptions): Found[] {
  const cards = readCards(folders);
  const wanted = [...new Set(configured)].map((device) => ({ device, card: parseDeviceName(device)?.card }));
  const isWanted = ({ id, index }: Card): boolean => wanted.some(({ card }) => card === id || card === index);
  const loudspeakers = cards.flatMap((card) =>
    card.streams
      .filter(({ direction }) => direction === 'playback')
      .map((stream) => ({
        device: addressOf(card, stream),
        isCard: true,
        isAgents: isWanted(card),
        holders: isBusy(stream) ? describeHolders(stream.holders) : null,
      })),
  );
  const others = wanted
    .filter(({ card }) => !cards.some(({ id, index }) => card === id || card === index))
    .map(({ device }) => ({ device, isCard: false, isAgents: true, holders: null }));
  return [...loudspeakers, ...others].slice(0, MOST_DEVICES);
}

/** A card without a volume control stays as it is. */
async function turnUp(device: string, { clock, log }: SpeakerOptions): Promise<void> {
  const mixer = createCardMixer(device, { clock, log });
  const looked = mixer.look().then(() => mixer.mixer?.setVolume(VOLUME_PERCENT));
  await Promise.race([looked, sleep(clock, MIXER_LIMIT_MS)]);
  mixer.close();
}

/** @returns why the device did not accept it, in ALSA's words; null: it did */
function play(
  device: string,
  { pcm, rateHz }: DecodedSound,
  { env, clock }: SpeakerOptions,
  playing: Set<() => void>,
): Promise<string | null> {
  return new Promise((resolve) => {
    const words = ['aplay', '-q', '-D', device, '-t', 'raw', '-f', 'S16_LE', '-r', String(rateHz), '-c', '1'];
    const [program = '', ...rest] = dyingWithParent(words);
    let said = '';
    const child = spawn(program, rest, { env: { ...env, LC_ALL: 'C' }, stdio: ['pipe', 'ignore', 'pipe'] });
    const end = (trouble: string | null): void => {
      playing.delete(stop);
      cancel();
      // A device that hangs in the kernel can block even SIGKILL; the caller does not wait for it.
      child.kill('SIGKILL');
      child.unref();
      child.stdin.destroy();
      child.stderr.destroy();
      resolve(trouble);
    };
    const stop = (): void => end('stopped on request');
    const limitMs = durationMs(pcm.byteLength, rateHz) + LATE_MS;
    const cancel = clock.at(clock.now() + limitMs, () => end('it accepts no sound'));
    playing.add(stop);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < MOST_WORDS) said += text;
    });
    child.stdin.on('error', () => {}); // The exit explains more.
    child.on('error', () => end('aplay is not installed (package alsa-utils)'));
    child.on('close', (code) =>
      end(code === 0 ? null : /resource busy/.test(said) ? 'busy' : reasonIn(said)),
    );
    child.stdin.end(pcm);
  });
}
