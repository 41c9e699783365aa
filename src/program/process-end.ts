/** What of a process its end needs. */
export interface EndingProcess {
  readonly pid: number;
  /** Names of what the process still waits for. */
  getActiveResourcesInfo(): string[];
  removeAllListeners(event: 'SIGTERM'): unknown;
  kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): unknown;
  exit(code: number): void;
}

/** Calls of the system that a thread of Node makes: files (FSReqPromise, FSReqCallback) and names of hosts. */
const IN_A_THREAD = /^(FSReq|GetAddrInfoReq|GetNameInfoReq)/;

/**
 * Ends the process at once, also where a thread is stuck in a call: on a dead disk, or on a network file system whose server is
 * gone. exit(3) would wait for that thread, forever: Node joins its threads (uv_library_shutdown) before it goes. Only a
 * signal does not.
 *
 * A program that has done its work takes SIGTERM: for systemd that is a clean end, as the code 0 is (systemd.service(5),
 * SuccessExitStatus), so that the unit is "inactive" and not "failed" after `systemctl stop`, and no setting of
 * the unit is needed. One that failed takes SIGKILL, which is a failure for every supervisor, as its code would be. A shell sees 143
 * or 137. `Restart=always` starts either again, unless somebody has stopped the unit.
 */
export function endProcess(host: EndingProcess, code: number): void {
  if (host.getActiveResourcesInfo().some((name) => IN_A_THREAD.test(name))) {
    // Without a listener the signal does what it does to any process: it ends it within this call.
    host.removeAllListeners('SIGTERM');
    host.kill(host.pid, code === 0 ? 'SIGTERM' : 'SIGKILL');
  }
  // The first process of a container is not ended by signals of its own.
  host.exit(code);
}
