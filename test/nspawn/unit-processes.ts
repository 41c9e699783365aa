import type { Machine } from './container.ts';

/** The agent starts it for each of its news to systemd: whether one is there just now says nothing. */
const MOMENTARY = 'systemd-notify';
/** The processes of a control group: number, parent, command line. Of what goes meanwhile there is no line, or less of one. */
const LIST = `for pid in $(cat "$1/cgroup.procs"); do
  echo "$pid $(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status") $(tr '\\0' ' ' <"/proc/$pid/cmdline")"
done 2>/dev/null`;
const programOf = (command: string): string => command.split(' ')[0]?.split('/').at(-1) ?? '';

/**
 * The lasting processes of a unit: number and program. What the agent starts for a moment is left out, and so is a child that is
 * not yet the program that it becomes, or has gone by now.
 * @param cgroup its control group, as systemd tells it
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
  // What has its parent's command line is a fork that has not become a program yet.
  const lasting = [...all].filter(([, { parent, command }]) => all.get(parent)?.command !== command);
  const named = lasting.map(([pid, { command }]): [number, string] => [pid, programOf(command)]);
  return new Map(named.filter(([, program]) => program !== MOMENTARY));
}
