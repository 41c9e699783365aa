import type { EventDetail, EventKind } from '../../../protocol/mqtt/event.ts';
import { isTransition, type Phase } from '../../../protocol/phases.ts';
import type { LaneEffect } from './lane-effect.ts';
import type { TimerName } from './lane-event.ts';
import { copyOf, type LaneCounts, type LaneState } from './lane-state.ts';
import {
  isStreaming,
  patchSession,
  phaseOf,
  type Session,
  type Setup,
  type Stream,
  type StreamChanges,
} from './session-state.ts';

/**
 * A step in progress: its state and effects so far. The state given to `step` is never changed: nested objects are
 * replaced, not written to.
 */
export class StepContext {
  readonly now: number;
  readonly effects: LaneEffect[] = [];
  private given: LaneState;
  private draft: LaneState;

  constructor(state: LaneState, now: number) {
    this.given = state;
    this.draft = state;
    this.now = now;
  }

  get state(): LaneState {
    return this.draft;
  }

  /** Changes the state in place, because a copy for each change is too expensive: a `state` read earlier is then stale. */
  set(changes: Partial<LaneState>): void {
    if (this.draft === this.given) this.draft = copyOf(this.given);
    Object.assign(this.draft, changes);
  }

  /** The state so far, for a later comparison: later changes do not affect it. */
  keep(): LaneState {
    this.given = this.draft;
    return this.draft;
  }

  count(what: keyof LaneCounts, by = 1): void {
    this.set({ counts: { ...this.draft.counts, [what]: this.draft.counts[what] + by } });
  }

  /** Changes a stream in the session or the old session. Returns the changed stream. */
  patch<S extends Stream>(stream: S, changes: StreamChanges): S {
    const { session, oldSession } = this.draft;
    if (oldSession?.stream.id === stream.id)
      this.set({ oldSession: { ...oldSession, stream: { ...oldSession.stream, ...changes } } });
    else this.set({ session: patchSession(session, stream.id, changes) });
    return { ...stream, ...changes };
  }

  get phase(): Phase {
    return phaseOf(this.draft.session);
  }

  /** Changes the state of the session. A transition that the table of phases forbids is a bug in the core. */
  become(session: Session): void {
    const phase = phaseOf(session);
    if (phase !== this.phase && !isTransition(this.phase, phase))
      throw new Error(`lane cannot go from ${this.phase} to ${phase}`);
    this.set({ session });
  }

  /** Goes to the next stage of the set-up. Without a live session beside it, the lane's phase is that stage. */
  advanceSetup(setup: Setup): void {
    const { session } = this.draft;
    if (isStreaming(session)) this.become({ kind: 'rolling', stream: session.stream, setup });
    else this.become({ kind: 'setup', setup });
  }

  emit(effect: LaneEffect): void {
    this.effects.push(effect);
  }

  /** @param slackMs permitted delay */
  arm(timer: TimerName, at: number, slackMs = 0): void {
    this.set({ timers: { ...this.draft.timers, [timer]: at } });
    this.emit({ type: 'arm', timer, at, slackMs });
  }

  disarm(...timers: readonly TimerName[]): void {
    for (const timer of timers) {
      if (this.draft.timers[timer] === null) continue;
      this.set({ timers: { ...this.draft.timers, [timer]: null } });
      this.emit({ type: 'disarm', timer });
    }
  }

  /**
   * Removes a timer that has gone off. False: it was disarmed or postponed meanwhile. A postponed timer is armed again, in
   * case the runner has removed it.
   */
  expire(timer: TimerName): boolean {
    const at = this.draft.timers[timer];
    if (at === null) return false;
    if (at > this.now) {
      this.arm(timer, at);
      return false;
    }
    this.set({ timers: { ...this.draft.timers, [timer]: null } });
    return true;
  }

  /** @param times monotonic milliseconds, which the publisher turns into timestamps */
  notify<K extends EventKind>(
    kind: K,
    detail: EventDetail<K>,
    times?: Readonly<Record<string, number>>,
  ): void {
    this.emit({ type: 'notify', kind, detail, ...(times && { times }) });
  }
}
