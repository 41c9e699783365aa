import type { Machine } from './container.ts';

/** A short-lived program that the agent starts for each notification to systemd. */
const MOMENTARY = 'systemd-notify';
/** Lists the processes of a control group: id, parent, command line. Lines of processes that end meanwhile are missing or cut. */
const LIST = `for pid in $(cat "$1/cgroup.procs"); do
  echo "$pid $(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status") $(tr '\\0' ' ' <"/proc/$pid/cmdline")"
done 2>/dev/null`;
const programOf = (command: string): string => command.split(' ')[0]?.split('/').at(-1) ?? '';

/**
 * The lasting processes of a unit: id and program. Short-lived children are left out, and so are forks that have not become their
 * program yet, or have already ended.
 * @param cgroup its control group, as systemd names it
 */
export async function lastingProcesses(machine: Machine, cgroup: string): Promise<Map<number, string>> {
  const { stdout } = await machine.run(['sh', '-c', LIST, 'sh', `/sys/fs/cgroup${cgroup}`]);
  const all = new Map(
    stdout
      .split('\n')
      .map((line) => /^(\d+) (\d+) (\S.*)$/.exec(line))
      .filter((found) => found !== null)
      .map(([, pid, parent, command = '']) => [Number(pid), { parent: Number(parent), command }]),
  );
  // A process with its parent's command line is a fork that has not become its program yet.
  const lasting = [...all].filter(([, { parent, command }]) => all.get(parent)?.command !== command);
  const named = lasting.map(([pid, { command }]): [number, string] => [pid, programOf(command)]);
  return new Map(named.filter(([, program]) => program !== MOMENTARY));
}
