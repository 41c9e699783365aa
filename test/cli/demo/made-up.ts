import type { Capabilities } from '../../../src/cli/demo/live-colors.ts';
import { type LiveModel, renderFrame, type Size } from '../../../src/cli/demo/live-frame.ts';
import { SILENT_METER } from '../../../src/cli/demo/live-meter.ts';
import { type DemoModel, type Exchange, FIRST_MODEL } from '../../../src/cli/demo/model.ts';
import type { LaneAccount } from '../../../src/device/lane/runner/lane-account.ts';
import type { LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import type { Caption, LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { createLane, type LaneState, NO_COUNTS } from '../../../src/device/lane/state/lane-state.ts';
import { NO_ACCOUNTS } from '../../../src/device/lane/uplink/backlog.ts';

export const LANE: LaneState = createLane({
  settings: { ...LANE_DEFAULTS, playoutBytesPerMs: 48 },
  options: {
    source: 'en',
    targets: ['es'],
    voice: null,
    echo: 'off',
    muted: false,
    volume: 100,
    earcons: false,
    bargeIn: 'duck',
    start: 'boot',
    standbyAfterMs: 0,
  },
  idPrefix: 'boot-main',
  seed: 1,
});

/** A step of a lane for its observers. */
export function laneStep(
  given: { event?: LaneEvent; effects?: readonly LaneEffect[]; after?: Partial<LaneState> } = {},
): LaneStep {
  return {
    lane: 'main',
    event: given.event ?? { type: 'start' },
    effects: given.effects ?? [],
    before: LANE,
    after: { ...LANE, ...given.after },
  };
}

export function captionStep(caption: Partial<Caption>): LaneStep {
  const whole: Caption = {
    kind: 'source',
    isFinal: true,
    id: null,
    part: null,
    language: 'en',
    text: 'Hello.',
    ...caption,
  };
  return laneStep({ effects: [{ type: 'caption', caption: whole }] });
}

export function account(more: Partial<LaneAccount> = {}): LaneAccount {
  return {
    ...NO_ACCOUNTS,
    held: 0,
    ...NO_COUNTS,
    lost_ms: 0,
    played_ms: 0,
    shed_sentences: 0,
    shed_ms: 0,
    playout_gaps: 0,
    capture_to_wire_ms: null,
    wire_to_speaker_ms: null,
    ...more,
  };
}

export function demoModel(more: Partial<DemoModel> = {}): DemoModel {
  return { ...FIRST_MODEL, ...more };
}

export function liveModel(more: Partial<LiveModel> = {}): LiveModel {
  return { ...FIRST_MODEL, pages: [], inputMeter: SILENT_METER, outputMeter: SILENT_METER, ...more };
}

/** A sentence with its Spanish translation. */
export function exchange(seq: number, source: string, translation?: string): Exchange {
  return {
    seq,
    id: `sentence-${seq}`,
    sourceLanguage: 'en',
    source,
    isFinal: true,
    translations: translation === undefined ? [] : [{ language: 'es', text: translation, isFinal: true }],
  };
}

export const PLAIN: Capabilities = { colour: false, unicode: true };

/** A frame as text without colours. */
export function frameOf(more: Partial<LiveModel>, size: Size, capabilities = PLAIN): string[] {
  return renderFrame(liveModel(more), account(), size, capabilities);
}
