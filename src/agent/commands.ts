import { type CommandArgs, CommandError, type CommandHandlers } from './command-request.ts';
import type { LaneRunner } from './lane-runner.ts';

/** Carries the operator's commands out on the lanes. Each answer tells how the lanes are after it. */
export function createCommandHandlers(
  lanes: readonly LaneRunner[],
  status: () => unknown,
  diagnose: CommandHandlers['diagnose'],
): CommandHandlers {
  const chosen = (id: string | undefined): readonly LaneRunner[] => {
    if (id === undefined) return lanes;
    const lane = lanes.find((candidate) => candidate.id === id);
    if (lane === undefined) {
      const known = lanes.map((candidate) => candidate.id).join(', ');
      throw new CommandError('unknown_lane', `there is no lane "${id}"; there are ${known}`);
    }
    return [lane];
  };
  const brief = (affected: readonly LaneRunner[]): unknown => ({
    lanes: affected.map(({ id, state }) => ({
      id,
      phase: state.phase,
      muted: state.orders.muted,
      volume: state.orders.volume,
      echo: state.orders.echo,
      source: state.orders.source,
      targets: state.orders.targets,
    })),
  });
  const forEach = (args: { lane?: string | undefined }, act: (lane: LaneRunner) => void): unknown => {
    const affected = chosen(args.lane);
    for (const lane of affected) act(lane);
    return brief(affected);
  };
  return {
    start: (args) => forEach(args, (lane) => lane.post({ type: 'start' })),
    stop: (args) => forEach(args, (lane) => lane.post({ type: 'stop' })),
    mute: (args) => forEach(args, (lane) => lane.post({ type: 'orders', orders: { muted: true } })),
    unmute: (args) => forEach(args, (lane) => lane.post({ type: 'orders', orders: { muted: false } })),
    languages: (args) => forEach(args, (lane) => lane.post({ type: 'orders', orders: languages(args) })),
    volume: (args) =>
      forEach(args, (lane) => lane.post({ type: 'orders', orders: { volume: args.percent } })),
    echo: (args) => forEach(args, (lane) => lane.post({ type: 'echo_order', mode: args.mode })),
    status,
    diagnose,
  };
}

function languages({ source, targets }: CommandArgs<'languages'>): { source?: string; targets?: string[] } {
  return { ...(source === undefined ? {} : { source }), ...(targets === undefined ? {} : { targets }) };
}
