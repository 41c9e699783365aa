import type { LaneRunner } from '../lane/lane-runner.ts';
import { CommandError } from './command-request.ts';

/** The lanes that a command is for: the one that it names, or all. @throws CommandError */
export function chooseLanes(lanes: readonly LaneRunner[], id: string | undefined): readonly LaneRunner[] {
  if (id === undefined) return lanes;
  const lane = lanes.find((candidate) => candidate.id === id);
  if (lane !== undefined) return [lane];
  const known = lanes.map((candidate) => candidate.id).join(', ');
  throw new CommandError('unknown_lane', `there is no lane "${id}"; there are ${known}`);
}
