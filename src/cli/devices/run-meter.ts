import type { AlsaTools } from '../../adapters/audio/cards/alsa-tools.ts';
import { isBusy, MACHINE_FOLDERS } from '../../adapters/audio/cards/card.ts';
import { createCardWatch } from '../../adapters/audio/cards/card-watch.ts';
import { parseDeviceName } from '../../adapters/audio/cards/device-name.ts';
import { streamOf } from '../../adapters/audio/cards/kernel-cards.ts';
import { surveyDevices } from '../../adapters/audio/cards/survey.ts';
import { createCapture } from '../../adapters/audio/drivers/driver.ts';
import { AudioFaultError } from '../../adapters/audio/fault.ts';
import { createSystemClock } from '../../adapters/clock.ts';
import { loadSpeechDetector } from '../../adapters/voice/speech-detector.ts';
import { Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { untilAskedToEnd } from '../../program/signals.ts';
import { COLUMNS } from '../../program/text.ts';
import type { CaptureConfig, Config } from '../../protocol/config.ts';
import { SAMPLE_RATE_HZ } from '../../protocol/config-sound.ts';
import { wrapColumns } from '../demo/display-text.ts';
import { capabilitiesOf, isLiveTerminal } from '../demo/live-host.ts';
import { suggestDevices } from './advice.ts';
import { type MeterEnd, type MeterView, runMeter } from './meter.ts';
import { createJsonMeter, createLineMeter, createLiveMeter } from './meter-view.ts';
import { explainBusy, judgeSound } from './meter-words.ts';

export interface MeterOptions {
  /** Device from the command line. */
  readonly device: string | null;
  readonly config: Config | null;
  readonly seconds: number | null;
  readonly isJson: boolean;
}

/** Shows the level of a microphone, live on a terminal, or in lines. */
export async function performMeter(given: MeterOptions, tools: AlsaTools, shell: Shell): Promise<void> {
  const capture = await chooseCapture(given, tools);
  const name = nameOf(capture);
  const { stdout } = process;
  const isLive = !given.isJson && isLiveTerminal(stdout, shell.env);
  if (!given.isJson) {
    const ending = given.seconds === null ? ', until Ctrl-C' : '';
    shell.print(`Listening to ${name}${ending}.\n`);
  }
  const busy = streamOf(name, 'capture', MACHINE_FOLDERS);
  // The kernel already knows that the device is busy, so the driver need not try.
  if (busy !== null && isBusy(busy)) throw new Failure(`${explainBusy(name, busy.holders)}.`);
  const { total, fault } = await listen(capture, given, chooseView(given.isJson, isLive, shell));
  if (fault !== null) {
    const message =
      fault.code === 'busy'
        ? explainBusy(name, streamOf(name, 'capture', MACHINE_FOLDERS)?.holders ?? [])
        : fault.message;
    throw new Failure(`${message}.`);
  }
  if (given.isJson) return;
  const card = parseDeviceName(name)?.card ?? null;
  const columns = Math.min(stdout.columns ?? COLUMNS, COLUMNS);
  shell.print(`${wrapColumns(judgeSound(total, card === null ? null : String(card)), columns).join('\n')}\n`);
}

/** The device of the command line, else of the first lane, else the recommended one. */
async function chooseCapture({ device, config }: MeterOptions, tools: AlsaTools): Promise<CaptureConfig> {
  const configured = config?.lanes[0]?.capture;
  if (device === null && configured !== undefined) return configured;
  const name = device ?? suggestDevices(await surveyDevices(MACHINE_FOLDERS, tools)).capture ?? 'default';
  return {
    driver: 'alsa',
    device: name,
    gain: null,
    sampleRate: configured?.sampleRate ?? SAMPLE_RATE_HZ.default,
  };
}

function nameOf(capture: CaptureConfig): string {
  const { driver } = capture;
  if ('device' in capture) return capture.device;
  return 'path' in capture ? capture.path : driver;
}

function chooseView(isJson: boolean, isLive: boolean, shell: Shell): MeterView {
  if (isJson) return createJsonMeter((text) => shell.print(text));
  if (!isLive) return createLineMeter((text) => shell.print(text));
  const { unicode } = capabilitiesOf(process.stdout, shell.env);
  return createLiveMeter(process.stdout, { unicode });
}

async function listen(config: CaptureConfig, { seconds }: MeterOptions, view: MeterView): Promise<MeterEnd> {
  const clock = createSystemClock();
  const { create } = await loadSpeechDetector();
  // A closed pipe (`... | head`) also ends the meter.
  const readerGone = new Promise<void>((resolve) => {
    for (const event of ['error', 'close']) process.stdout.once(event, () => resolve());
  });
  try {
    return await runMeter({
      openCapture: createCapture(config, clock, {
        whenCardsChange: createCardWatch({ clock }).whenCardsChange,
      }),
      createVoiceDetector: create,
      rateHz: config.sampleRate,
      clock,
      view,
      limitMs: seconds === null ? null : seconds * 1000,
      askedToEnd: Promise.race([untilAskedToEnd(process), readerGone]),
    });
  } catch (error) {
    if (error instanceof AudioFaultError) throw new Failure(`${error.message}.`);
    throw error;
  }
}
