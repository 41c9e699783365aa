import type { EventDetail, EventKind } from '../../protocol/mqtt/event.ts';
import type { LaneEffect } from './effect.ts';
import type { TimerName } from './event.ts';
import { isTransition, type Phase } from './phases.ts';
import {
  isStreaming,
  patchSession,
  phaseOf,
  type Session,
  type Setup,
  type Stream,
  type StreamChanges,
} from './session/session.ts';
import type { LaneCounts, LaneState } from './state.ts';

/**
 * One step in the making: the state as it has become so far and the effects so far. The state
 * handed to `step` is never changed; what hangs below it is replaced, not written to.
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

  /** What `state` gave before must not be looked at any more: copying all of it again for each change is too expensive. */
  set(changes: Partial<LaneState>): void {
    if (this.draft === this.given) this.draft = { ...this.given, ...changes };
    else Object.assign(this.draft, changes);
  }

  /** The state as it has become so far; this one no later change writes to, so that it can be compared with what follows. */
  keep(): LaneState {
    this.given = this.draft;
    return this.draft;
  }

  count(what: keyof LaneCounts, by = 1): void {
    this.set({ counts: { ...this.draft.counts, [what]: this.draft.counts[what] + by } });
  }

  /** Changes a stream where it stands. Returns it as it is then. */
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

  /** Goes to another state of the session; a phase that the table does not allow from here is a defect of the core. */
  become(session: Session): void {
    const phase = phaseOf(session);
    if (phase !== this.phase && !isTransition(this.phase, phase))
      throw new Error(`lane cannot go from ${this.phase} to ${phase}`);
    this.set({ session });
  }

  /** Goes on with the setup. Without a live session beside it, the lane's phase is the setup's stage. */
  advanceSetup(setup: Setup): void {
    const { session } = this.draft;
    if (isStreaming(session)) this.become({ kind: 'rolling', stream: session.stream, setup });
    else this.become({ kind: 'setup', setup });
  }

  emit(effect: LaneEffect): void {
    this.effects.push(effect);
  }

  /** @param slackMs it may go off this much later */
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
   * Takes a timer that has gone off out of the armed ones. False for one that must not count: disarmed
   * meanwhile, or put off (then it is armed again, in case the outside took the wrong one away).
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

  /** @param times moments, monotonic milliseconds, which become timestamps on their way out */
  notify<K extends EventKind>(
    kind: K,
    detail: EventDetail<K>,
    times?: Readonly<Record<string, number>>,
  ): void {
    this.emit({ type: 'notify', kind, detail, ...(times && { times }) });
  }
}
