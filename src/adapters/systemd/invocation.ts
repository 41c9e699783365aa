type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether systemd itself has started this process, and will clean up behind it (systemd.exec(5), since 248). A shell's programs
 * inherit the variable, not the number.
 */
export function isStartedBySystemd(env: Environment): boolean {
  return env['SYSTEMD_EXEC_PID'] === String(process.pid);
}

/** Whether the program runs as a service: nobody sits in front of it, and whoever started it starts it again. */
export function isService(env: Environment): boolean {
  return Boolean(env['NOTIFY_SOCKET']) || isStartedBySystemd(env);
}
