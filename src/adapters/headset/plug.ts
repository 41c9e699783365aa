import type { WhenCardsChange } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunProgram } from '../../ports/machine.ts';
import type { PlugListener, WatchPlug } from '../../ports/plug.ts';
import type { HeadsetConfig } from '../../protocol/config-sound.ts';
import { type Child, startChild } from '../audio/child/process.ts';
import { sleep } from '../sleep.ts';
import { readSwitch, switchMonitor } from './headphone-switch.ts';
import { jackMonitor, readJack } from './jack-control.ts';
import type { PlugState } from './plug-state.ts';

/** Reads once whether the plug of a headset is in. */
export function readPlug({ device, detect }: HeadsetConfig, run: RunProgram): Promise<PlugState> {
  return detect.startsWith('/') ? readSwitch(detect, run) : readJack(device, detect, run);
}

/** Time to the next try (milliseconds) without a program that reports changes: the plug is then read at each try. */
const RETRY_MS = 1000;
/** The same, for a plug that counts as unreadable. */
const UNREADABLE_RETRY_MS = 5000;
/** Readings that must fail in a row before the plug counts as unreadable: one may fail because the machine is busy. */
const FAILURES = 2;

const BETWEEN_READINGS_MS = 100;

export interface PlugDeps {
  readonly clock: Clock;
  readonly run: RunProgram;
  readonly whenCardsChange?: WhenCardsChange;
}

/** Watches the plug of a headset: a child process reports each change at once, and the plug is then read. */
export function watchHeadsetPlug(headset: HeadsetConfig, deps: PlugDeps): WatchPlug {
  return (listener) => {
    const watch = new PlugWatch(headset, deps, listener);
    watch.begin();
    return { close: () => watch.close() };
  };
}

class PlugWatch {
  private readonly headset: HeadsetConfig;
  private readonly deps: PlugDeps;
  private readonly listener: PlugListener;
  private readonly unwatchCards: () => void;
  private child: Child | null = null;
  private known: boolean | null = null;
  private problem: string | null = null;
  private failures = 0;
  private isReading = false;
  /** The plug may have changed during the present reading. */
  private isOutdated = false;
  private isClosed = false;
  private cancel = (): void => {};

  constructor(headset: HeadsetConfig, deps: PlugDeps, listener: PlugListener) {
    this.headset = headset;
    this.deps = deps;
    this.listener = listener;
    // A program that watches the controls of a card does not notice that the card is gone.
    this.unwatchCards = deps.whenCardsChange?.(() => void this.read()) ?? (() => {});
  }

  /** Starts the program that reports changes. It also writes something when it is ready, so no change is missed. */
  begin(): void {
    const { device, detect } = this.headset;
    const { clock } = this.deps;
    const words = detect.startsWith('/') ? switchMonitor(detect) : jackMonitor(device);
    this.child = startChild({ words }, 'in', clock, {
      data: () => void this.read(),
      line() {},
      ended: () => {
        this.child = null;
        if (this.isClosed) return;
        const waitMs = this.problem === null ? RETRY_MS : UNREADABLE_RETRY_MS;
        this.cancel = clock.at(clock.now() + waitMs, () => this.begin());
      },
    });
    void this.read();
  }

  close(): void {
    this.isClosed = true;
    this.unwatchCards();
    this.cancel();
    this.child?.kill();
  }

  private async read(): Promise<void> {
    this.isOutdated = true;
    if (this.isReading) return;
    this.isReading = true;
    while (this.isOutdated && !this.isClosed) {
      this.isOutdated = false;
      const state = await readPlug(this.headset, this.deps.run);
      if (!this.isClosed) this.take(state);
      // A card that reports changes all the time must not start one program after the other.
      if (this.isOutdated) await sleep(this.deps.clock, BETWEEN_READINGS_MS);
    }
    this.isReading = false;
  }

  private take(state: PlugState): void {
    if (typeof state !== 'boolean') return this.fail(state.problem);
    this.failures = 0;
    if (this.problem !== null) this.listener.found();
    this.problem = null;
    if (state === this.known) return;
    this.known = state;
    this.listener.changed(state);
  }

  private fail(problem: string): void {
    this.failures += 1;
    // The next one, a moment later, opens the card or device again.
    this.child?.kill();
    if (this.failures < FAILURES || problem === this.problem) return;
    this.problem = problem;
    this.known = null;
    this.listener.lost(problem);
  }
}
