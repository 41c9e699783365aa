import type { LaneConfig } from '../../../../protocol/config.ts';
import type { Outcome } from '../../report/finding.ts';
import { type HoldersOf, judgeOpened } from '../../sound-devices/device-holders.ts';
import { nameOf } from '../../sound-devices/device-name.ts';
import type { Listening } from './listening.ts';
import {
  type HearingFacts,
  isHearingDoubtful,
  isRateDoubtful,
  judgeHearing,
  measureHearing,
} from './microphone-rules.ts';

const LISTEN_MS = 2000;
/** A doubtful rate is measured again for this long (ms), which averages out the delays of a busy machine. */
const LONGER_MS = 6000;
/** Timeout for opening a device (ms), the same as that of the drivers for their first try. */
const OPEN_LIMIT_MS = 10_000;

/** @param playTone plays the tone beside the microphone; null: it may not be played */
export async function examineMicrophone(
  { capture }: LaneConfig,
  listening: Listening,
  playTone: (() => Promise<unknown>) | null,
  holdersOf: HoldersOf,
): Promise<Outcome> {
  const device = nameOf(capture);
  const rateHz = capture.sampleRate;
  const isRecording = capture.driver === 'file';
  const facts = await hear(listening, rateHz);
  // A noise gate closes in a quiet room: silence does not prove a dead microphone.
  const needsTone = !isRecording && listening.fault === null && isHearingDoubtful(facts);
  const isPlayed = needsTone && playTone !== null;
  if (isPlayed) await playTone();
  if (listening.fault !== null) return judgeOpened(device, listening.fault, 'capture', holdersOf);
  return judgeHearing(isPlayed ? measureHearing(listening.pieces, rateHz) : facts, {
    device,
    isRecording,
    wasSilentBeforeTone: isPlayed ? facts.zero === 1 : null,
  });
}

async function hear(listening: Listening, rateHz: number): Promise<HearingFacts> {
  await listening.until(1, OPEN_LIMIT_MS);
  if (listening.fault === null) await listening.until(LISTEN_MS, LISTEN_MS * 2);
  const facts = measureHearing(listening.pieces, rateHz);
  if (listening.fault !== null || !isRateDoubtful(facts)) return facts;
  await listening.until(LONGER_MS, LONGER_MS * 2);
  return measureHearing(listening.pieces, rateHz);
}
