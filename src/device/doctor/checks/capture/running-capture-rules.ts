import type { CaptureFinding } from '../../../../sound/capture-watch.ts';
import { type Outcome, problem, warning } from '../../report/finding.ts';

/** Findings of a running lane about its microphone, observed for longer than a diagnosis takes. */
const CAPTURE: Readonly<Record<CaptureFinding, (device: string) => Outcome>> = {
  silent: (device) =>
    problem(
      `${device} delivers digital silence: it is muted, nothing is plugged in, or its noise gate is closed`,
      'Speak into it; look for a switch at the microphone, and at the mixer ("alsamixer", F4).',
    ),
  deaf: (device) =>
    problem(
      `${device} does not even hear the loudspeaker`,
      'Look for a switch at the microphone, its cable, and the mixer ("alsamixer", F4).',
    ),
  incomplete: (device) =>
    problem(
      `${device} does not deliver all of its sound`,
      'Look for another program that reads it, a USB hub without power, or a machine that is too busy; try another port or card.',
    ),
  too_fast: (device) => offRate(device, 'fast'),
  too_slow: (device) => offRate(device, 'slow'),
  clipping: (device) =>
    warning(
      `${device} is overdriven`,
      'Turn the microphone down ("alsamixer", F4), or move it away from the loudspeaker.',
    ),
  dc_offset: (device) =>
    warning(`${device} has a DC offset`, 'The microphone or its input is faulty: try another.'),
  gain_changed: (device) =>
    warning(
      `${device}: another program changes the gain that the agent keeps`,
      'Look for a sound server, a desktop or a script that sets the mixer, or leave "gain" out.',
    ),
  noisy_room: (device) =>
    warning(
      `${device}: sound that is not speech keeps waking the lane from standby, which costs stream minutes`,
      'Move the microphone closer to the visitors and away from loudspeakers and doors, turn its gain down, or use a directional one; "docs/sound.md" shows what each kind of room costs.',
    ),
};

function offRate(device: string, how: 'fast' | 'slow'): Outcome {
  return warning(
    `${device} delivers too ${how} for its rate`,
    'Use "plughw:" in the device name, another sampleRate, or another card.',
  );
}

export function judgeCaptureFindings(device: string, findings: readonly CaptureFinding[]): Outcome[] {
  return findings.map((finding) => CAPTURE[finding](device));
}
