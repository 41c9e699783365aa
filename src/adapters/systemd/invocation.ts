type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether systemd itself started this process and will clean up after it (systemd.exec(5), since 248). Child processes inherit the
 * variable, but have another pid.
 */
export function isStartedBySystemd(env: Environment): boolean {
  return env['SYSTEMD_EXEC_PID'] === String(process.pid);
}

/** Whether the program runs under a supervisor that restarts it, without a person at its terminal. */
export function isService(env: Environment): boolean {
  return Boolean(env['NOTIFY_SOCKET']) || isStartedBySystemd(env);
}
