/** The parts of `process` that its exit needs. */
export interface EndingProcess {
  readonly pid: number;
  /** Names of resources that are still active. */
  getActiveResourcesInfo(): string[];
  removeAllListeners(event: 'SIGTERM'): unknown;
  kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): unknown;
  exit(code: number): void;
}

/** Resources of system calls in Node's threads: files (FSReqPromise, FSReqCallback) and host names. */
const IN_A_THREAD = /^(FSReq|GetAddrInfoReq|GetNameInfoReq)/;

/**
 * Ends the process at once, even if a thread hangs in a system call, for example on a dead disk or an unreachable network
 * file system. exit(3) would wait for that thread forever, because Node joins its threads (uv_library_shutdown). A signal
 * does not wait.
 *
 * After success the process uses SIGTERM, which systemd counts as a clean exit like code 0 (systemd.service(5),
 * SuccessExitStatus). After `systemctl stop` the unit is then "inactive" and not "failed", without any setting. After a
 * failure it uses SIGKILL, which every supervisor counts as a failure. A shell sees 143 or 137. `Restart=always` restarts
 * after both, unless the unit was stopped.
 */
export function endProcess(host: EndingProcess, code: number): void {
  if (host.getActiveResourcesInfo().some((name) => IN_A_THREAD.test(name))) {
    // Without a listener the signal ends the process within this call.
    host.removeAllListeners('SIGTERM');
    host.kill(host.pid, code === 0 ? 'SIGTERM' : 'SIGKILL');
  }
  // Needed in a container: its first process ignores signals from itself.
  host.exit(code);
}
