import { type Outcome, problem, skipped } from '../report/finding.ts';

export interface DeviceInUse {
  readonly direction: 'capture' | 'playback';
  readonly lane: string;
  readonly device: string;
  /** The agent process that uses the device. */
  readonly agent: number;
  /** Reasons in that agent's status, `code` or `code:detail`. */
  readonly reasons: readonly string[];
}

const ASK = 'the command "diagnose" makes the agent check it';

const FIXES: ReadonlyMap<string, string> = new Map([
  ['silent', 'Speak into it; look for a switch at the microphone, and at the mixer ("alsamixer", F4).'],
  ['deaf', 'Look for a switch at the microphone, its cable, and the mixer ("alsamixer", F4).'],
]);

const LONGEST_REASON = 200;

/** Judges a device that a running agent uses. The doctor does not open it, but the agent's status may report a fault. */
export function judgeDeviceInUse({ direction, lane, device, agent, reasons }: DeviceInUse): Outcome {
  const reason = reasons.find((one) => isAbout(one, direction, lane));
  if (reason === undefined) return skipped(`the running agent (process ${agent}) uses it; ${ASK}`);
  const detail = reason.slice(reason.search(/[:/][^:/]*$/) + 1);
  const fix = FIXES.get(detail) ?? `${ASK.charAt(0).toUpperCase()}${ASK.slice(1)}.`;
  const said = reason.slice(0, LONGEST_REASON);
  return problem(`${device}: the running agent (process ${agent}) reports "${said}"`, fix, { device });
}

/** With several lanes, the detail of a reason begins with the lane: "capture:main/lost". */
function isAbout(reason: string, direction: string, lane: string): boolean {
  const [code, detail = ''] = reason.split(':');
  if (code !== direction) return false;
  return !detail.includes('/') || detail.startsWith(`${lane}/`);
}
