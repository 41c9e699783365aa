import { describe, expect, it } from 'vitest';
import type { AlsaTools } from '../../../src/adapters/audio/cards/alsa-tools.ts';
import { checkRealMic, chooseRealMic, recordLoudspeaker } from '../../../src/cli/demo/real-mic.ts';
import type { OpenPlayback, PlaybackSink } from '../../../src/ports/audio.ts';
import { EXIT, Failure } from '../../../src/program/problem.ts';

describe('the devices of a demo with a real microphone', () => {
  it('default to ALSA’s default device and half-duplex', () => {
    expect(chooseRealMic({})).toEqual({ microphone: 'default', loudspeaker: 'default', echo: 'half-duplex' });
  });

  it('are those of the first lane when the environment names them', () => {
    const env = {
      DRAGOMAN_LANES_0_CAPTURE_DEVICE: 'plughw:CARD=Mic',
      DRAGOMAN_LANES_0_PLAYBACK_DEVICE: 'plughw:CARD=Speaker',
      DRAGOMAN_LANES_0_ECHO: 'off',
    };
    expect(chooseRealMic(env)).toEqual({
      microphone: 'plughw:CARD=Mic',
      loudspeaker: 'plughw:CARD=Speaker',
      echo: 'off',
    });
  });

  it('are rejected with an unknown echo mode', () => {
    expect(refusal(() => chooseRealMic({ DRAGOMAN_LANES_0_ECHO: 'loud' }))).toMatchObject({
      exitCode: EXIT.usage,
      message: 'DRAGOMAN_LANES_0_ECHO must be half-duplex, cancel, off; it is "loud".',
    });
  });
});

describe('the check of the devices before the demo', () => {
  const REAL_MIC = { microphone: 'default', loudspeaker: 'plughw:CARD=Speaker', echo: 'off' } as const;
  const ability = { formats: ['S16_LE'], channels: [], rates: [] };

  const tools = (
    answers: Partial<Record<'capture' | 'playback', string>>,
    isInstalled = true,
  ): AlsaTools => ({
    listSoftware: async () => (isInstalled ? { devices: [], trouble: null } : null),
    askAbility: async (direction) => {
      const reason = answers[direction];
      return reason === undefined ? { ok: true, ability } : { ok: false, reason };
    },
  });
  const refusalBy = async (alsa: AlsaTools): Promise<unknown> =>
    checkRealMic(REAL_MIC, alsa).then(
      () => null,
      (error: unknown) => error,
    );

  it('passes when both devices can be opened', async () => {
    expect(await refusalBy(tools({}))).toBeNull();
  });

  it('names the package when arecord is not installed', async () => {
    const refused = await refusalBy(tools({ capture: 'arecord is not installed' }, false));
    expect(refused).toBeInstanceOf(Failure);
    expect(refused).toMatchObject({ exitCode: EXIT.failed, message: expect.stringContaining('alsa-utils') });
  });

  it.each([
    ['capture', 'microphone "default"', 'DRAGOMAN_LANES_0_CAPTURE_DEVICE'],
    ['playback', 'loudspeaker "plughw:CARD=Speaker"', 'DRAGOMAN_LANES_0_PLAYBACK_DEVICE'],
  ] as const)(
    'reports why the %s device cannot be opened, with the fix',
    async (direction, part, variable) => {
      const refused = await refusalBy(tools({ [direction]: 'No such file or directory' }));
      expect(refused).toMatchObject({ exitCode: EXIT.failed });
      for (const words of [`the ${part} cannot be opened (No such file or directory)`, variable]) {
        expect(String(refused)).toContain(words);
      }
    },
  );
});

describe('a loudspeaker that is recorded', () => {
  const SINK: PlaybackSink = { fault() {}, back() {}, missed() {}, measured() {} };

  function part(name: string, heardAt: number, calls: string[]): OpenPlayback {
    return async () => ({
      mixer: { setVolume: (percent) => void calls.push(`${name} volume ${percent}`) },
      write(pcm) {
        calls.push(`${name} write ${pcm.byteLength}`);
        return { from: heardAt, until: heardAt };
      },
      flush: () => void calls.push(`${name} flush`),
      close: async () => void calls.push(`${name} close`),
    });
  }

  it('writes to both, with the timing and the volume of the loudspeaker', async () => {
    const calls: string[] = [];
    const open = recordLoudspeaker(part('loudspeaker', 42, calls), part('recording', 7, calls));
    const playback = await open(SINK);
    expect(playback.write(new Uint8Array(4)).from).toBe(42);
    playback.mixer?.setVolume(30);
    playback.flush();
    await playback.close();
    expect(calls.sort()).toEqual([
      'loudspeaker close',
      'loudspeaker flush',
      'loudspeaker volume 30',
      'loudspeaker write 4',
      'recording close',
      'recording flush',
      'recording write 4',
    ]);
  });
});

function refusal(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return null;
}
