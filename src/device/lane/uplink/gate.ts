/** Decides which captured chunks reach the service unchanged, and which as silence. */
import type { EchoMode } from '../../../sound/echo-guard.ts';
import type { Heard } from '../../playout/heard.ts';

export interface GateInput {
  readonly muted: boolean;
  readonly echo: EchoMode;
  readonly heard: readonly Heard[];
  /** How long the room still sounds after the loudspeaker stops, milliseconds. */
  readonly tailMs: number;
}

export type GateDecision = 'open' | 'muted' | 'echo';

/** Judges the chunk that was captured over `chunkMs` up to `capturedAt`. */
export function judge(input: GateInput, capturedAt: number, chunkMs: number): GateDecision {
  if (input.muted) return 'muted';
  if (input.echo !== 'half-duplex') return 'open';
  const began = capturedAt - chunkMs;
  const echoes = input.heard.some(({ from, until }) => capturedAt > from && began < until + input.tailMs);
  return echoes ? 'echo' : 'open';
}
