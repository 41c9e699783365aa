import type { OpenCapture, OpenPlayback } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CaptureConfig, PlaybackConfig } from '../../protocol/config.ts';
import { AudioFaultError } from './fault.ts';
import { createFileCapture } from './file-capture.ts';
import { createFilePlayback } from './file-playback.ts';

/**
 * The capture that a lane's configuration asks for; it delivers at the configuration's `sampleRate`.
 * @throws AudioFaultError at once when this version has no such driver
 */
export function createCapture(config: CaptureConfig, clock: Clock): OpenCapture {
  switch (config.driver) {
    case 'file':
      return createFileCapture({ path: config.path, loop: config.loop, rateHz: config.sampleRate, clock });
    case 'alsa':
      throw unavailable('capture', config.driver);
  }
}

/**
 * The playback that a lane's configuration asks for.
 * @param rateHz of the PCM that will be written to it
 * @throws AudioFaultError at once when this version has no such driver
 */
export function createPlayback(config: PlaybackConfig, rateHz: number, clock: Clock): OpenPlayback {
  switch (config.driver) {
    case 'file':
      return createFilePlayback({ path: config.path, rateHz, clock });
    case 'alsa':
      throw unavailable('playback', config.driver);
  }
}

function unavailable(part: 'capture' | 'playback', driver: string): AudioFaultError {
  const example = part === 'capture' ? 'in.wav' : 'out.wav';
  const message = `the ${part} driver "${driver}" is not available in this version; use {"driver":"file","path":"${example}"}`;
  return new AudioFaultError('failed', message);
}
